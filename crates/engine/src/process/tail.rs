//! Reads a file that is still being written, in flat memory. Holes are passed over.

use std::fs::File;
use std::io::{self, Read};

use memchr::memchr;
use terca_core::agent::RawLine;

use crate::tree::WithoutHoles;

/// Of a longer line only the beginning and the length are passed on.
const LONGEST_LINE: usize = 8 * 1024 * 1024;
const BEGINNING: usize = 4 * 1024;
/// The room for what is read at first. Most outputs are short, and room takes time to make.
const FIRST_CHUNK: usize = 8 * 1024;
const CHUNK: usize = 256 * 1024;
/// The most that is read in one go: a program that writes faster than we read must not keep us from other work.
const AT_ONCE: usize = 8 * 1024 * 1024;

/// A file that is still being written.
#[derive(Debug)]
pub struct Tail {
    file: File,
    chunk: Vec<u8>,
    /// The number of bytes that were read so far.
    pub bytes: u64,
}

impl Tail {
    /// Reads an open file from where it is.
    pub fn new(file: File) -> Self {
        Tail {
            file,
            chunk: vec![0; FIRST_CHUNK],
            bytes: 0,
        }
    }

    /// Reads what has been written since the last time, block by block and up to a limit. Returns whether there is more.
    pub fn read(&mut self, on_block: &mut dyn FnMut(&[u8])) -> io::Result<bool> {
        let mut total = 0;
        while total < AT_ONCE {
            match WithoutHoles(&self.file).read(&mut self.chunk) {
                Ok(0) => return Ok(false),
                Ok(length) => {
                    total += length;
                    self.bytes += length as u64;
                    on_block(&self.chunk[..length]);
                    if length == self.chunk.len() {
                        self.chunk.resize(CHUNK, 0);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

/// Cuts blocks into lines.
#[derive(Debug, Default)]
pub struct Lines {
    /// The line that has begun and not ended, or the beginning of one that is too long.
    held: Vec<u8>,
    /// The length of that line so far.
    length: u64,
}

impl Lines {
    /// Takes the next block, and hands on the lines that end in it.
    pub fn feed(&mut self, mut block: &[u8], on_line: &mut dyn FnMut(RawLine<'_>)) {
        while let Some(end) = memchr(b'\n', block) {
            if self.length == 0 {
                on_line(RawLine::whole(&block[..end]));
            } else {
                self.hold(&block[..end]);
                self.end(on_line);
            }
            block = &block[end + 1..];
        }
        self.hold(block);
    }

    /// Hands on a last line that has no end.
    pub fn finish(mut self, on_line: &mut dyn FnMut(RawLine<'_>)) {
        if self.length > 0 {
            self.end(on_line);
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        let is_whole = self.held.len() as u64 == self.length;
        self.length += bytes.len() as u64;
        if self.length <= LONGEST_LINE as u64 {
            self.held.extend_from_slice(bytes);
        } else if is_whole {
            self.held
                .extend_from_slice(&bytes[..bytes.len().min(BEGINNING)]);
            self.held.truncate(BEGINNING);
            self.held.shrink_to_fit();
        }
    }

    fn end(&mut self, on_line: &mut dyn FnMut(RawLine<'_>)) {
        on_line(RawLine {
            text: &self.held,
            bytes: self.length,
        });
        // Long lines seldom come alone, and room takes time to make.
        if self.held.len() < CHUNK {
            self.held.shrink_to(CHUNK);
        }
        self.held.clear();
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn describe(line: RawLine<'_>) -> String {
        let text = String::from_utf8_lossy(line.text);
        if line.bytes == line.text.len() as u64 {
            return text.into_owned();
        }
        format!("{}… {}", &text[..3], line.bytes)
    }

    fn read(tail: &mut Tail, lines: &mut Lines) -> Vec<String> {
        let mut found = Vec::new();
        tail.read(&mut |block| lines.feed(block, &mut |line| found.push(describe(line))))
            .unwrap();
        found
    }

    #[test]
    fn lines_arrive_when_they_are_complete() {
        let mut writer = tempfile::NamedTempFile::new().unwrap();
        let mut tail = Tail::new(writer.reopen().unwrap());
        let mut lines = Lines::default();
        assert!(read(&mut tail, &mut lines).is_empty());
        writer.write_all(b"one\n\ntw").unwrap();
        assert_eq!(read(&mut tail, &mut lines), ["one", ""]);
        writer.write_all(b"o\nhal").unwrap();
        assert_eq!(read(&mut tail, &mut lines), ["two"]);
        let mut rest = Vec::new();
        lines.finish(&mut |line| rest.push(describe(line)));
        assert_eq!(rest, ["hal"]);
        assert_eq!(tail.bytes, 12);
    }

    #[test]
    fn an_endless_line_is_not_held() {
        let mut writer = tempfile::NamedTempFile::new().unwrap();
        for _ in 0..20 {
            writer.write_all(&vec![b'x'; 1024 * 1024]).unwrap();
        }
        writer.write_all(b"\nnext\n").unwrap();
        let mut tail = Tail::new(writer.reopen().unwrap());
        let mut lines = Lines::default();
        assert!(
            read(&mut tail, &mut lines).is_empty(),
            "not more than so much at once"
        );
        assert!(read(&mut tail, &mut lines).is_empty());
        assert_eq!(
            read(&mut tail, &mut lines),
            [format!("xxx… {}", 20 * 1024 * 1024), "next".into()]
        );
        assert!(lines.held.capacity() <= CHUNK);
    }
}
