//! `run.log`: everything that happened in a trial, in order, for a person to read. Secrets are masked.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};

use camino::Utf8Path;
use terca_core::text::mask::Mask;
use terca_core::text::prose;

use crate::process::output_file::FileEnds;

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
        pass_masked(file, &mut out, &self.mask)?;
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

/// Copies a file with its secrets masked.
pub fn copy_masked(from: impl Read, to: &Utf8Path, mask: &Mask) -> io::Result<()> {
    // The plain file: the kernel can copy from one to another by itself.
    let mut output = fs_err::File::create(to)?.into_parts().0;
    pass_masked(from, &mut output, mask)
}

/// Copies everything with its secrets masked, in little memory.
fn pass_masked(mut from: impl Read, output: &mut impl Write, mask: &Mask) -> io::Result<()> {
    if mask.is_empty() {
        return io::copy(&mut from, output).map(|_| ());
    }
    let mut held: Vec<u8> = Vec::new();
    let mut chunk = vec![0; 256 * 1024];
    loop {
        let length = from.read(&mut chunk)?;
        held.extend_from_slice(&chunk[..length]);
        // The end may be the beginning of a secret that goes on in the next chunk.
        let settled = if length == 0 {
            held.len()
        } else {
            held.len().saturating_sub(mask.overlap())
        };
        let (masked, consumed) = mask.bytes_up_to(&held, settled);
        output.write_all(&masked)?;
        held.drain(..consumed);
        if length == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn a_secret_across_two_chunks_is_masked() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        let (from, to) = (dir.join("from"), dir.join("to"));
        // One secret begins with the other: the rest of the longer must not stay behind.
        let mask = Mask::new(["sk-very", "sk-very-secret"]);
        for before in (256 * 1024 - 20)..(256 * 1024 + 2) {
            let text = format!("{}sk-very-secret tail", "x".repeat(before));
            std::fs::write(&from, &text).unwrap();
            copy_masked(File::open(&from).unwrap(), &to, &mask).unwrap();
            assert_eq!(
                std::fs::read_to_string(&to).unwrap(),
                text.replace("sk-very-secret", "***")
            );
        }
    }
}
