//! Reads a file that is still being written, line by line, in flat memory. Holes are passed over.

use std::fs::File;
use std::io::{self, Read};

use camino::Utf8Path;
use memchr::memchr;
use terca_core::agent::Line;
use terca_core::text::mask::Mask;

use crate::tree::WithoutHoles;

/// Of a longer line only the beginning and the length are passed on.
const LONGEST_LINE: usize = 8 * 1024 * 1024;
const BEGINNING: usize = 4 * 1024;
/// The bytes of a line by which the sink decides whether it wants it.
const DECIDING: usize = 64;
/// The room for what is read at first. Most outputs are short, and room takes time to make.
const FIRST_CHUNK: usize = 8 * 1024;
const CHUNK: usize = 256 * 1024;
/// The most that is read in one go: a program that writes faster than we read must not keep us from other work.
const AT_ONCE: usize = 8 * 1024 * 1024;

/// Receives the lines of a file. A closure receives them all.
pub trait LineSink {
    /// Receives a line.
    fn line(&mut self, line: Line<'_>);
    /// Returns whether it wants a line that begins so. One that it does not want is never held in memory.
    fn wants(&mut self, _beginning: &[u8]) -> bool {
        true
    }
    /// Receives the length of a line that is not wanted.
    fn skip(&mut self, _bytes: u64) {}
    /// Receives everything that is read, before its lines.
    fn bytes(&mut self, _bytes: &[u8]) {}
}

impl<F: FnMut(Line<'_>)> LineSink for F {
    fn line(&mut self, line: Line<'_>) {
        self(line);
    }
}

/// A file that is still being written.
#[derive(Debug)]
pub struct Tail {
    file: File,
    begun: Begun,
    /// The bytes that were read last, after the end of those before, as far as a secret may reach back into them.
    chunk: Vec<u8>,
    carried: usize,
    /// The bytes that are read at once.
    room: usize,
    mask: Mask,
    seen: Seen,
}

/// The line that has begun and not ended.
#[derive(Debug, Default)]
struct Begun {
    held: Vec<u8>,
    fate: Fate,
}

#[derive(Debug, Default)]
enum Fate {
    /// Too little of it is there to decide.
    #[default]
    Unknown,
    Wanted,
    /// Its length so far; the beginning is held.
    Oversized(u64),
    /// Its length so far; nothing is held.
    Unwanted(u64),
}

/// The part of a file that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Its length.
    pub bytes: u64,
    /// There was a secret in it.
    pub secrets: bool,
}

impl Tail {
    /// Opens a file to be read from its beginning.
    pub fn open(path: &Utf8Path, mask: &Mask) -> io::Result<Self> {
        Ok(Tail::new(File::open(path)?, mask))
    }

    /// Reads an open file from where it is.
    pub fn new(file: File, mask: &Mask) -> Self {
        Tail {
            file,
            begun: Begun::default(),
            chunk: Vec::new(),
            carried: 0,
            room: FIRST_CHUNK,
            mask: mask.clone(),
            seen: Seen::default(),
        }
    }

    /// Reads what has been written since the last time, up to a limit. Returns whether there is more.
    pub fn read(&mut self, sink: &mut dyn LineSink) -> io::Result<bool> {
        self.read_up_to(AT_ONCE, sink)
    }

    fn read_up_to(&mut self, limit: usize, sink: &mut dyn LineSink) -> io::Result<bool> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let mut total = 0;
        let result = loop {
            if total >= limit {
                break Ok(true);
            }
            chunk.resize(self.mask.overlap() + self.room, 0);
            match WithoutHoles(&self.file).read(&mut chunk[self.carried..]) {
                Ok(0) => break Ok(false),
                Ok(length) => {
                    total += length;
                    if self.carried + length == chunk.len() {
                        self.room = CHUNK;
                    }
                    let read = &chunk[self.carried..self.carried + length];
                    sink.bytes(read);
                    self.begun.feed(read, sink);
                    self.look_for_secrets(&mut chunk, length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.chunk = chunk;
        result
    }

    /// Looks for secrets in the bytes just read, and keeps their end for the next time.
    fn look_for_secrets(&mut self, chunk: &mut [u8], length: usize) {
        let all = self.carried + length;
        self.seen.bytes += length as u64;
        self.seen.secrets |= self.mask.hides(&chunk[..all]);
        self.carried = all.min(self.mask.overlap());
        chunk.copy_within(all - self.carried..all, 0);
    }

    /// Reads the rest, with a last line that may have no end.
    pub fn finish(mut self, sink: &mut dyn LineSink) -> io::Result<Seen> {
        self.read_up_to(usize::MAX, sink)?;
        if !self.begun.is_nothing() {
            self.begun.end(sink);
        }
        Ok(self.seen)
    }
}

impl Begun {
    fn is_nothing(&self) -> bool {
        self.held.is_empty() && matches!(self.fate, Fate::Unknown)
    }

    fn feed(&mut self, mut bytes: &[u8], sink: &mut dyn LineSink) {
        while let Some(end) = memchr(b'\n', bytes) {
            let line = &bytes[..end];
            if !self.is_nothing() {
                self.hold(line, sink);
                self.end(sink);
            } else if sink.wants(beginning(line)) {
                sink.line(Line::Text(&String::from_utf8_lossy(line)));
            } else {
                sink.skip(end as u64 + 1);
            }
            bytes = &bytes[end + 1..];
        }
        if !bytes.is_empty() {
            self.hold(bytes, sink);
        }
    }

    fn hold(&mut self, mut bytes: &[u8], sink: &mut dyn LineSink) {
        if matches!(self.fate, Fate::Unknown) {
            let some = bytes.len().min(DECIDING.saturating_sub(self.held.len()));
            self.held.extend_from_slice(&bytes[..some]);
            bytes = &bytes[some..];
            if self.held.len() < DECIDING {
                return;
            }
            self.decide(sink);
        }
        match &mut self.fate {
            Fate::Oversized(length) | Fate::Unwanted(length) => *length += bytes.len() as u64,
            Fate::Unknown | Fate::Wanted => self.held.extend_from_slice(bytes),
        }
        if self.held.len() > LONGEST_LINE {
            self.fate = Fate::Oversized(self.held.len() as u64);
            self.held.truncate(BEGINNING);
            self.held.shrink_to_fit();
        }
    }

    fn decide(&mut self, sink: &mut dyn LineSink) {
        self.fate = if sink.wants(beginning(&self.held)) {
            Fate::Wanted
        } else {
            let length = self.held.len() as u64;
            self.held.clear();
            Fate::Unwanted(length)
        };
    }

    fn end(&mut self, sink: &mut dyn LineSink) {
        if matches!(self.fate, Fate::Unknown) {
            self.decide(sink);
        }
        let text = String::from_utf8_lossy(&self.held);
        match self.fate {
            Fate::Unwanted(bytes) => sink.skip(bytes + 1),
            Fate::Oversized(bytes) => sink.line(Line::Oversized {
                beginning: &text,
                bytes,
            }),
            Fate::Unknown | Fate::Wanted => sink.line(Line::Text(&text)),
        }
        self.held.clear();
        self.held.shrink_to(CHUNK);
        self.fate = Fate::Unknown;
    }
}

fn beginning(line: &[u8]) -> &[u8] {
    &line[..line.len().min(DECIDING)]
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines(tail: &mut Tail) -> Vec<String> {
        let mut seen = Vec::new();
        tail.read(&mut |line: Line<'_>| seen.push(describe(line)))
            .unwrap();
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
        tail.finish(&mut |line: Line<'_>| rest.push(describe(line)))
            .unwrap();
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
            tail.finish(&mut |_: Line<'_>| {}).unwrap()
        };
        for pieces in 1..12 {
            let text = b"some text\nsk-secre t sk-secret.";
            assert_eq!(
                seen(text, pieces),
                Seen {
                    bytes: text.len() as u64,
                    secrets: true
                },
                "{pieces}"
            );
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
        assert_eq!(
            lines(&mut tail),
            [format!("xxx… {}", 20 * 1024 * 1024), "next".into()]
        );
        assert!(tail.begun.held.capacity() <= CHUNK);
    }

    /// Wants no line that begins with an `x`.
    #[derive(Default)]
    struct Picky(Vec<String>);

    impl LineSink for Picky {
        fn line(&mut self, line: Line<'_>) {
            self.0.push(describe(line));
        }

        fn wants(&mut self, beginning: &[u8]) -> bool {
            !beginning.starts_with(b"x")
        }

        fn skip(&mut self, bytes: u64) {
            self.0.push(format!("({bytes})"));
        }
    }

    #[test]
    fn what_is_not_wanted_is_neither_held_nor_heard() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = Utf8Path::from_path(file.path()).unwrap();
        let long = "x".repeat(3 * CHUNK);
        let text = format!("one\nx\n\n{long}\ntwo\nxx\nlast");
        let expected = [
            "one",
            "(2)",
            "",
            &format!("({})", long.len() + 1),
            "two",
            "(3)",
            "last",
        ];
        for piece in [1, 7, DECIDING, 100_000, text.len()] {
            let mut writer = File::create(path).unwrap();
            let mut tail = Tail::open(path, &Mask::default()).unwrap();
            let mut sink = Picky::default();
            for piece in text.as_bytes().chunks(piece) {
                writer.write_all(piece).unwrap();
                tail.read(&mut sink).unwrap();
                assert!(tail.begun.held.len() <= DECIDING);
            }
            tail.finish(&mut sink).unwrap();
            assert_eq!(sink.0, expected, "in pieces of {piece}");
        }
    }
}
