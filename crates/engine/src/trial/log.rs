//! `run.log`: everything that happened in a trial, in order, for a person to read. Secrets are masked.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use camino::Utf8Path;
use terca_core::text::mask::Mask;
use terca_core::text::prose;

/// Of a longer output of set-up or of the agent the log has the beginning and the end.
const SHOWN: u64 = 1024 * 1024;

#[derive(Debug)]
pub struct RunLog {
    file: BufWriter<File>,
    mask: Mask,
}

impl RunLog {
    pub fn create(path: &Utf8Path, mask: &Mask) -> io::Result<Self> {
        Ok(RunLog {
            file: BufWriter::new(fs_err::File::create(path)?.into_parts().0),
            mask: mask.clone(),
        })
    }

    /// Begins a part: `── before: npm install ──`.
    pub fn section(&mut self, title: &str) -> io::Result<()> {
        let title = self.mask.text(title);
        let mut lines = title.lines();
        writeln!(self.file, "── {} ──", lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| writeln!(self.file, "   {line}"))?;
        self.file.flush()
    }

    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.file, "{}", self.mask.text(text))?;
        self.file.flush()
    }

    /// Many lines at once.
    pub fn lines<'a>(&mut self, lines: impl Iterator<Item = &'a str>) -> io::Result<()> {
        for line in lines {
            writeln!(self.file, "{}", self.mask.text(line))?;
        }
        self.file.flush()
    }

    /// What a command has written, shortened in the middle when it is long.
    pub fn output(&mut self, mut file: &File) -> io::Result<()> {
        let size = file.metadata()?.len();
        // Looked at beyond the cut, so that a secret that lies across it is seen whole.
        let overlap = self.mask.overlap();
        if size <= 2 * SHOWN + overlap as u64 {
            let all = self.masked(&mut file, size)?;
            return self.write_lines(&all);
        }
        let head = self.masked(&mut file, SHOWN + overlap as u64)?;
        file.seek(SeekFrom::End(-((SHOWN + overlap as u64) as i64)))?;
        let tail = self.masked(&mut file, SHOWN + overlap as u64)?;
        self.write_lines(&head[..head.len() - overlap.min(head.len())])?;
        writeln!(
            self.file,
            "… {} bytes left out …",
            prose::compact(size - 2 * SHOWN)
        )?;
        self.write_lines(&tail[overlap.min(tail.len())..])
    }

    /// All that a test's command has written: the log is the only place where it is kept.
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

    fn masked(&self, file: &mut &File, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes)?;
        Ok(self.mask.bytes(&bytes))
    }

    fn write_lines(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        if bytes.last().is_some_and(|byte| *byte != b'\n') {
            self.file.write_all(b"\n")?;
        }
        self.file.flush()
    }
}

/// Remembers how what was written ends.
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
    // The file itself: the kernel copies from one to another without us.
    let mut output = fs_err::File::create(to)?.into_parts().0;
    pass_masked(from, &mut output, mask)
}

/// Passes everything on with its secrets masked, in flat memory.
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
