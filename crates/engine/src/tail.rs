//! Reads a file that is still being written, line by line, in flat memory.

use std::fs::File;
use std::io::{self, Read};

use camino::Utf8Path;
use memchr::memchr;
use terca_core::agent::Line;
use terca_core::mask::Mask;

/// A longer line is handed on as its beginning and its length only.
const LONGEST_LINE: usize = 8 * 1024 * 1024;
const BEGINNING: usize = 4 * 1024;
const CHUNK: usize = 256 * 1024;
/// What is read in one go: whoever writes faster than we read must not keep us from anything else.
const AT_ONCE: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub struct Tail {
    file: File,
    /// The line that has begun and not ended.
    partial: Vec<u8>,
    /// How much of an overlong line has passed by.
    oversized: u64,
    /// What was read last stands behind the end of what was read before, as far as a secret may reach back into it.
    chunk: Vec<u8>,
    carried: usize,
    mask: Mask,
    seen: Seen,
}

/// What has passed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    pub bytes: u64,
    /// Whether there was a secret among it.
    pub secrets: bool,
}

impl Tail {
    pub fn open(path: &Utf8Path, mask: &Mask) -> io::Result<Self> {
        Ok(Tail {
            file: File::open(path)?,
            partial: Vec::new(),
            oversized: 0,
            chunk: Vec::new(),
            carried: 0,
            mask: mask.clone(),
            seen: Seen::default(),
        })
    }

    /// What has been written since the last look, up to a limit. Says whether there is more.
    pub fn read(&mut self, on_line: &mut dyn FnMut(Line<'_>)) -> io::Result<bool> {
        self.read_up_to(AT_ONCE, on_line)
    }

    fn read_up_to(&mut self, limit: usize, on_line: &mut dyn FnMut(Line<'_>)) -> io::Result<bool> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let mut total = 0;
        let result = loop {
            if total >= limit {
                break Ok(true);
            }
            chunk.resize(self.mask.overlap() + CHUNK, 0);
            match self.file.read(&mut chunk[self.carried..]) {
                Ok(0) => break Ok(false),
                Ok(length) => {
                    total += length;
                    self.feed(&chunk[self.carried..self.carried + length], on_line);
                    self.look(&mut chunk, length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.chunk = chunk;
        result
    }

    /// Looks for secrets in what was just read, and carries its end over to the next time.
    fn look(&mut self, chunk: &mut [u8], length: usize) {
        let all = self.carried + length;
        self.seen.bytes += length as u64;
        self.seen.secrets |= self.mask.hides(&chunk[..all]);
        self.carried = all.min(self.mask.overlap());
        chunk.copy_within(all - self.carried..all, 0);
    }

    /// The rest, with a last line that has no end.
    pub fn finish(mut self, on_line: &mut dyn FnMut(Line<'_>)) -> io::Result<Seen> {
        self.read_up_to(usize::MAX, on_line)?;
        if !self.partial.is_empty() {
            self.emit(on_line);
        }
        Ok(self.seen)
    }

    fn feed(&mut self, mut bytes: &[u8], on_line: &mut dyn FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            if self.partial.is_empty() && end <= LONGEST_LINE {
                on_line(Line::Text(&String::from_utf8_lossy(&bytes[..end])));
            } else {
                self.hold(&bytes[..end]);
                self.emit(on_line);
            }
            bytes = &bytes[end + 1..];
        }
        self.hold(bytes);
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.oversized > 0 {
            self.oversized += bytes.len() as u64;
            return;
        }
        self.partial.extend_from_slice(bytes);
        if self.partial.len() > LONGEST_LINE {
            self.oversized = self.partial.len() as u64;
            self.partial.truncate(BEGINNING);
            self.partial.shrink_to_fit();
        }
    }

    fn emit(&mut self, on_line: &mut dyn FnMut(Line<'_>)) {
        let text = String::from_utf8_lossy(&self.partial);
        match self.oversized {
            0 => on_line(Line::Text(&text)),
            bytes => on_line(Line::Oversized { beginning: &text, bytes }),
        }
        self.partial.clear();
        self.partial.shrink_to(CHUNK);
        self.oversized = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines(tail: &mut Tail) -> Vec<String> {
        let mut seen = Vec::new();
        tail.read(&mut |line| seen.push(describe(line))).unwrap();
        seen
    }

    fn describe(line: Line<'_>) -> String {
        match line {
            Line::Text(text) => text.to_owned(),
            Line::Oversized { beginning, bytes } => format!("{}… {bytes}", &beginning[..3]),
        }
    }

    #[test]
    fn lines_arrive_whole_however_they_are_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = Utf8Path::from_path(file.path()).unwrap();
        let mut writer = File::create(path).unwrap();
        let mut tail = Tail::open(path, &Mask::default()).unwrap();
        writer.write_all(b"one\ntw").unwrap();
        assert_eq!(lines(&mut tail), ["one"]);
        writer.write_all(b"o\n\nhal").unwrap();
        assert_eq!(lines(&mut tail), ["two", ""]);
        let mut rest = Vec::new();
        tail.finish(&mut |line| rest.push(describe(line))).unwrap();
        assert_eq!(rest, ["hal"]);
    }

    #[test]
    fn secrets_are_seen_wherever_they_are_cut() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = Utf8Path::from_path(file.path()).unwrap();
        let mask = Mask::new(["sk-secret"]);
        let seen = |text: &[u8], pieces: usize| {
            let mut writer = File::create(path).unwrap();
            let mut tail = Tail::open(path, &mask).unwrap();
            for piece in text.chunks(pieces) {
                writer.write_all(piece).unwrap();
                lines(&mut tail);
            }
            tail.finish(&mut |_| {}).unwrap()
        };
        for pieces in 1..12 {
            let text = b"some text\nsk-secre t sk-secret.";
            assert_eq!(seen(text, pieces), Seen { bytes: text.len() as u64, secrets: true }, "{pieces}");
            assert!(!seen(b"sk-secre\nsk-secre", pieces).secrets, "{pieces}");
        }
        for before in CHUNK - 10..CHUNK + 2 {
            let text = [vec![b'x'; before], b"sk-secret".to_vec()].concat();
            assert!(seen(&text, text.len()).secrets, "{before}");
        }
    }

    #[test]
    fn an_endless_line_is_not_held() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = Utf8Path::from_path(file.path()).unwrap();
        let mut writer = File::create(path).unwrap();
        for _ in 0..20 {
            writer.write_all(&vec![b'x'; 1024 * 1024]).unwrap();
        }
        writer.write_all(b"\nnext\n").unwrap();
        let mut tail = Tail::open(path, &Mask::default()).unwrap();
        assert!(lines(&mut tail).is_empty(), "not more than so much at once");
        assert!(lines(&mut tail).is_empty());
        assert_eq!(lines(&mut tail), [format!("xxx… {}", 20 * 1024 * 1024), "next".into()]);
        assert!(tail.partial.capacity() <= CHUNK);
    }
}
