//! `run.log`: everything that happened in a trial, in order, for a person to read. Secrets are masked.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use terca_core::text::mask::Mask;

/// One of the two outputs of a command. Each has lines of its own in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// Standard output, or both in one.
    Out,
    /// Standard error.
    Errors,
}

/// The log of one trial.
#[derive(Debug)]
pub struct RunLog {
    file: BufWriter<File>,
    mask: Mask,
    /// The output whose last line has no end yet.
    open_line: Option<Stream>,
}

impl RunLog {
    /// Begins a log in a new file.
    pub fn new(file: File, mask: &Mask) -> Self {
        RunLog {
            file: BufWriter::new(file),
            mask: mask.clone(),
            open_line: None,
        }
    }

    /// Begins a section: `── before: npm install ──`.
    pub fn section(&mut self, title: &str) -> io::Result<()> {
        self.end_line()?;
        let title = self.mask.text(title);
        let mut lines = title.lines();
        writeln!(self.file, "── {} ──", lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| writeln!(self.file, "   {line}"))?;
        self.file.flush()
    }

    /// Writes a line.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.file, "{}", self.mask.text(text))?;
        self.file.flush()
    }

    /// Writes bytes of a command's output, which are masked already.
    pub(super) fn raw(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let Some(last) = bytes.last() else {
            return Ok(());
        };
        if self.open_line != Some(stream) {
            self.end_line()?;
        }
        self.file.write_all(bytes)?;
        self.open_line = (*last != b'\n').then_some(stream);
        self.file.flush()
    }

    /// Ends a line that has begun.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        if self.open_line.take().is_some() {
            self.file.write_all(b"\n")?;
        }
        self.file.flush()
    }
}
