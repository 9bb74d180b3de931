//! Reads a file that is still being written, line by line, in flat memory.

use std::fs::File;
use std::io::{self, Read};

use camino::Utf8Path;
use memchr::memchr;
use terca_core::agent::Line;
use terca_core::text::mask::Mask;

/// A longer line is handed on as its beginning and its length only.
const LONGEST_LINE: usize = 8 * 1024 * 1024;
const BEGINNING: usize = 4 * 1024;
/// By so much of a line it is told whether it is wanted.
const FIRST_WORDS: usize = 64;
const CHUNK: usize = 256 * 1024;
/// What is read in one go: whoever writes faster than we read must not keep us from anything else.
const AT_ONCE: usize = 8 * 1024 * 1024;

/// Who hears the lines. A closure hears them all.
pub trait Ear {
    fn hear(&mut self, line: Line<'_>);
    /// Whether a line with these first words is to be heard. One that is not is never held, however long.
    fn wants(&mut self, _first_words: &[u8]) -> bool {
        true
    }
    /// The end of a line that is not wanted, and its length.
    fn pass_over(&mut self, _bytes: u64) {}
}

impl<F: FnMut(Line<'_>)> Ear for F {
    fn hear(&mut self, line: Line<'_>) {
        self(line);
    }
}

#[derive(Debug)]
pub struct Tail {
    file: File,
    begun: Begun,
    /// What was read last stands behind the end of what was read before, as far as a secret may reach back into it.
    chunk: Vec<u8>,
    carried: usize,
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
    /// Too little of it is there to tell.
    #[default]
    Unknown,
    Wanted,
    /// Its length so far; the beginning is held.
    Oversized(u64),
    /// Its length so far; nothing is held.
    Unwanted(u64),
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
            begun: Begun::default(),
            chunk: Vec::new(),
            carried: 0,
            mask: mask.clone(),
            seen: Seen::default(),
        })
    }

    /// What has been written since the last look, up to a limit. Says whether there is more.
    pub fn read(&mut self, ear: &mut dyn Ear) -> io::Result<bool> {
        self.read_up_to(AT_ONCE, ear)
    }

    fn read_up_to(&mut self, limit: usize, ear: &mut dyn Ear) -> io::Result<bool> {
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
                    self.begun
                        .feed(&chunk[self.carried..self.carried + length], ear);
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
    pub fn finish(mut self, ear: &mut dyn Ear) -> io::Result<Seen> {
        self.read_up_to(usize::MAX, ear)?;
        if !self.begun.is_nothing() {
            self.begun.end(ear);
        }
        Ok(self.seen)
    }
}

impl Begun {
    fn is_nothing(&self) -> bool {
        self.held.is_empty() && matches!(self.fate, Fate::Unknown)
    }

    fn feed(&mut self, mut bytes: &[u8], ear: &mut dyn Ear) {
        while let Some(end) = memchr(b'\n', bytes) {
            let line = &bytes[..end];
            if !self.is_nothing() {
                self.hold(line, ear);
                self.end(ear);
            } else if ear.wants(first_words(line)) {
                ear.hear(Line::Text(&String::from_utf8_lossy(line)));
            } else {
                ear.pass_over(end as u64 + 1);
            }
            bytes = &bytes[end + 1..];
        }
        if !bytes.is_empty() {
            self.hold(bytes, ear);
        }
    }

    fn hold(&mut self, mut bytes: &[u8], ear: &mut dyn Ear) {
        if matches!(self.fate, Fate::Unknown) {
            let some = bytes.len().min(FIRST_WORDS.saturating_sub(self.held.len()));
            self.held.extend_from_slice(&bytes[..some]);
            bytes = &bytes[some..];
            if self.held.len() < FIRST_WORDS {
                return;
            }
            self.decide(ear);
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

    fn decide(&mut self, ear: &mut dyn Ear) {
        self.fate = if ear.wants(first_words(&self.held)) {
            Fate::Wanted
        } else {
            let length = self.held.len() as u64;
            self.held.clear();
            Fate::Unwanted(length)
        };
    }

    fn end(&mut self, ear: &mut dyn Ear) {
        if matches!(self.fate, Fate::Unknown) {
            self.decide(ear);
        }
        let text = String::from_utf8_lossy(&self.held);
        match self.fate {
            Fate::Unwanted(bytes) => ear.pass_over(bytes + 1),
            Fate::Oversized(bytes) => ear.hear(Line::Oversized {
                beginning: &text,
                bytes,
            }),
            Fate::Unknown | Fate::Wanted => ear.hear(Line::Text(&text)),
        }
        self.held.clear();
        self.held.shrink_to(CHUNK);
        self.fate = Fate::Unknown;
    }
}

fn first_words(line: &[u8]) -> &[u8] {
    &line[..line.len().min(FIRST_WORDS)]
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

    impl Ear for Picky {
        fn hear(&mut self, line: Line<'_>) {
            self.0.push(describe(line));
        }

        fn wants(&mut self, first_words: &[u8]) -> bool {
            !first_words.starts_with(b"x")
        }

        fn pass_over(&mut self, bytes: u64) {
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
        for piece in [1, 7, FIRST_WORDS, 100_000, text.len()] {
            let mut writer = File::create(path).unwrap();
            let mut tail = Tail::open(path, &Mask::default()).unwrap();
            let mut ear = Picky::default();
            for piece in text.as_bytes().chunks(piece) {
                writer.write_all(piece).unwrap();
                tail.read(&mut ear).unwrap();
                assert!(tail.begun.held.len() <= FIRST_WORDS);
            }
            tail.finish(&mut ear).unwrap();
            assert_eq!(ear.0, expected, "in pieces of {piece}");
        }
    }
}
