//! `run.log`: everything that happened in a trial, in order, for a person to read. Secrets are masked.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use terca_core::text::mask::Mask;
use terca_core::text::prose;

use crate::process::output_file::FileEnds;
use crate::trial::masking::write_masked;

/// The length of each end of a long output that the log shows.
const SHOWN: u64 = 1024 * 1024;

/// The log of one trial.
#[derive(Debug)]
pub struct RunLog {
    file: BufWriter<File>,
    mask: Mask,
}

impl RunLog {
    /// Begins a log in a new file.
    pub fn new(file: File, mask: &Mask) -> Self {
        RunLog {
            file: BufWriter::new(file),
            mask: mask.clone(),
        }
    }

    /// Begins a section: `── before: npm install ──`.
    pub fn section(&mut self, title: &str) -> io::Result<()> {
        let title = self.mask.text(title);
        let mut lines = title.lines();
        writeln!(self.file, "── {} ──", lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| writeln!(self.file, "   {line}"))?;
        self.file.flush()
    }

    /// Writes a line.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.file, "{}", self.mask.text(text))?;
        self.file.flush()
    }

    /// Writes many lines at once.
    pub fn lines<'a>(&mut self, lines: impl Iterator<Item = &'a str>) -> io::Result<()> {
        for line in lines {
            writeln!(self.file, "{}", self.mask.text(line))?;
        }
        self.file.flush()
    }

    /// Writes a command's output, without the middle if it is long.
    pub fn output(&mut self, file: &File) -> io::Result<()> {
        // More is read than is shown, so that a secret across the cut is masked.
        let overlap = self.mask.overlap();
        let ends = FileEnds::read(file, SHOWN + overlap as u64)?;
        let head = self.mask.bytes(&ends.head);
        let Some(tail) = ends.tail else {
            return self.write_lines(&head);
        };
        let tail = self.mask.bytes(&tail);
        self.write_lines(&head[..head.len() - overlap.min(head.len())])?;
        let left_out = prose::compact(ends.size - 2 * SHOWN);
        writeln!(self.file, "… {left_out} bytes left out …")?;
        self.write_lines(&tail[overlap.min(tail.len())..])
    }

    /// Writes all output of a test's command, which is kept nowhere else.
    pub fn whole_output(&mut self, file: &File) -> io::Result<()> {
        let mut out = LineEnd {
            out: &mut self.file,
            last: b'\n',
        };
        write_masked(file, &mut out, &self.mask)?;
        if out.last != b'\n' {
            self.file.write_all(b"\n")?;
        }
        self.file.flush()
    }

    fn write_lines(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        if bytes.last().is_some_and(|byte| *byte != b'\n') {
            self.file.write_all(b"\n")?;
        }
        self.file.flush()
    }
}

/// A writer that remembers the last byte.
struct LineEnd<'a, W> {
    out: &'a mut W,
    last: u8,
}

impl<W: Write> Write for LineEnd<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.out.write(bytes)?;
        self.last = bytes[..length].last().copied().unwrap_or(self.last);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
