//! Copies output with its secrets masked, in little memory. Holes in a file are no output, and are left out.
//!
//! Output that is a stream of events may have a secret in pieces, so it is read twice: once to find the pieces, and once
//! to copy what is around them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};

use camino::Utf8Path;
use terca_core::text::mask::{Edits, MASK, Mask, Pieces};

use crate::tree::WithoutHoles;

/// Of a longer line only the beginning is searched for pieces.
pub(super) const LONGEST_LINE: usize = 8 * 1024 * 1024;
const CHUNK: usize = 256 * 1024;

/// Copies a file with its secrets masked.
pub(super) fn copy_masked(from: &File, to: &Utf8Path, mask: &Mask) -> io::Result<()> {
    let mut output = fs_err::File::create(to)?.into_parts().0;
    write_masked(from, &mut output, mask)
}

/// Writes a text with its secrets masked to a file.
pub(super) fn write_text(text: &str, to: &Utf8Path, mask: &Mask) -> io::Result<()> {
    fs_err::write(to, mask.text(text))
}

/// Writes all of a file with its secrets masked.
pub(super) fn write_masked(
    mut from: &File,
    output: &mut impl Write,
    mask: &Mask,
) -> io::Result<()> {
    let pieces = find_pieces(from, mask)?;
    from.rewind()?;
    write_edited(WithoutHoles(from), pieces, output, mask)
}

/// Finds the secrets that are in pieces in a file.
pub(super) fn find_pieces(mut file: &File, mask: &Mask) -> io::Result<Edits> {
    let mut pieces = Pieces::new(mask);
    if mask.is_empty() {
        return Ok(pieces.finish());
    }
    file.rewind()?;
    let mut reader = BufReader::with_capacity(CHUNK, WithoutHoles(file));
    let mut line = Vec::new();
    let mut place = 0;
    loop {
        line.clear();
        let length = reader
            .by_ref()
            .take(LONGEST_LINE as u64)
            .read_until(b'\n', &mut line)? as u64;
        if length == 0 {
            return Ok(pieces.finish());
        }
        pieces.line(place, &line);
        place += length;
        if length == LONGEST_LINE as u64 && line.last() != Some(&b'\n') {
            place += skip_line(&mut reader)?;
        }
    }
}

/// Passes over the rest of a line. Returns its length.
fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let bytes = reader.fill_buf()?;
        let (length, is_end) = match memchr::memchr(b'\n', bytes) {
            Some(end) => (end + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        reader.consume(length);
        skipped += length as u64;
        if is_end {
            return Ok(skipped);
        }
    }
}

/// Writes the rest of a stream, without these pieces and with whole secrets masked.
pub(super) fn write_edited(
    from: impl Read,
    pieces: Edits,
    output: &mut impl Write,
    mask: &Mask,
) -> io::Result<()> {
    if pieces.is_empty() {
        return pass_masked(from, output, mask);
    }
    pass_masked(Edited::new(from, pieces), output, mask)
}

/// A stream with pieces of secrets replaced.
struct Edited<R> {
    from: R,
    place: u64,
    next: Option<(u64, u64, bool)>,
    pieces: Edits,
    /// The part of a replacement that is still to be read.
    replacement: &'static [u8],
}

impl<R: Read> Edited<R> {
    fn new(from: R, mut pieces: Edits) -> Self {
        Edited {
            from,
            place: 0,
            next: pieces.pop(),
            pieces,
            replacement: b"",
        }
    }
}

impl<R: Read> Read for Edited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.replacement.is_empty() {
                return self.replacement.read(buffer);
            }
            let end = match self.next {
                Some((start, end, is_first)) if start == self.place => {
                    io::copy(&mut self.from.by_ref().take(end - start), &mut io::sink())?;
                    self.place = end;
                    self.next = self.pieces.pop();
                    self.replacement = if is_first { MASK.as_bytes() } else { b"" };
                    continue;
                }
                Some((start, ..)) => start,
                None => self.pieces.cut.unwrap_or(u64::MAX),
            };
            let most = (end - self.place).min(buffer.len() as u64);
            let length = self.from.by_ref().take(most).read(buffer)?;
            self.place += length as u64;
            return Ok(length);
        }
    }
}

fn pass_masked(mut from: impl Read, output: &mut impl Write, mask: &Mask) -> io::Result<()> {
    if mask.is_empty() {
        return io::copy(&mut from, output).map(|_| ());
    }
    let mut held: Vec<u8> = Vec::new();
    let mut chunk = vec![0; CHUNK];
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
    fn a_secret_in_pieces_is_masked_and_the_rest_of_a_stream_is_not_touched() {
        let key = "sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq";
        let mask = Mask::new([key]);
        let delta = |text: &str| format!("{{\"delta\":\"{text}\"}}\n");
        let long = format!("{{\"x\":\"{}\"}}\n", "y".repeat(LONGEST_LINE));
        let stream = [
            delta("it is sk-ant"),
            long.clone(),
            delta("-api03-AbCdEfGh_0123"),
            "plain\n".to_owned(),
            delta("456789-ZyXwVuTsRq."),
        ];
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(stream.concat().as_bytes()).unwrap();
        let mut copy = Vec::new();
        write_masked(&file, &mut copy, &mask).unwrap();
        let expected = [
            delta("it is ***"),
            long,
            delta(""),
            "plain\n".to_owned(),
            delta("."),
        ];
        assert!(String::from_utf8(copy).unwrap() == expected.concat());
    }

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
            copy_masked(&File::open(&from).unwrap(), &to, &mask).unwrap();
            assert_eq!(
                std::fs::read_to_string(&to).unwrap(),
                text.replace("sk-very-secret", "***")
            );
        }
    }
}
