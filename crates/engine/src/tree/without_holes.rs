//! Reads a file as if it had no holes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};

use crate::tree::content::{ContentError, next_data};

/// The unit in which the system counts what a file really takes.
const BLOCK: u64 = 512;

/// A file that is read from where it is, with its holes passed over.
///
/// Programs that print make no holes. A program that sets the length of its output to a terabyte does, and the zeros in
/// there would take hours to read and fill the disk when they are copied.
#[derive(Debug)]
pub struct WithoutHoles<'a>(pub &'a File);

impl Read for WithoutHoles<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.0;
        let meta = file.metadata()?;
        let size = meta.len();
        // Looking for holes takes longer than reading, and nearly no file has one.
        if meta.blocks().saturating_mul(BLOCK) >= size {
            return file.read(buffer);
        }
        let place = file.stream_position()?;
        let data = match next_data(file, place, size) {
            Ok(data) => data,
            Err(ContentError::System(error)) => return Err(error),
            Err(ContentError::Own(error)) => return Err(io::Error::other(error)),
        };
        // A piece never reaches into a hole, so that what is read does not depend on the buffer.
        let (length, end) = match data {
            Some((start, end)) => {
                let most = usize::try_from(end - start).unwrap_or(usize::MAX);
                let most = most.min(buffer.len());
                let length = file.read_at(&mut buffer[..most], start)?;
                (length, start + length as u64)
            }
            None => (0, size.max(place)),
        };
        file.seek(SeekFrom::Start(end))?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn holes_are_passed_over_whatever_the_buffer_is() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b'a'; 4096]).unwrap();
        file.seek(SeekFrom::Start(1 << 40)).unwrap();
        file.write_all(&[b'b'; 4096]).unwrap();
        file.set_len(1 << 41).unwrap();
        let expected = [[b'a'; 4096], [b'b'; 4096]].concat();
        for length in [1000, 4096, 1 << 20] {
            file.rewind().unwrap();
            let mut reader = io::BufReader::with_capacity(length, WithoutHoles(&file));
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            assert!(read == expected, "{length}: {} bytes", read.len());
        }
    }

    #[test]
    fn more_that_is_written_at_the_end_is_read() {
        let mut writer = tempfile::NamedTempFile::new().unwrap();
        let file = writer.reopen().unwrap();
        let mut read = String::new();
        for text in ["one", "", "two"] {
            writer.write_all(text.as_bytes()).unwrap();
            WithoutHoles(&file).read_to_string(&mut read).unwrap();
        }
        assert_eq!(read, "onetwo");
    }
}
