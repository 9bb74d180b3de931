//! The file that a command's output goes to, and how it is read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};

/// A file for a command's output.
///
/// It is made new, under a name that cannot be foreseen, and read through the handle it was made with, so that no
/// program can forge it, before or after.
#[derive(Debug)]
pub struct Output {
    /// The path for the command to write to.
    pub path: Utf8PathBuf,
    file: File,
}

impl Output {
    /// Makes an empty file in a directory.
    pub fn create(dir: &Utf8Path) -> io::Result<Self> {
        let path = dir.join(format!("output-{:016x}", fastrand::u64(..)));
        let file = File::options()
            .read(true)
            .append(true)
            .create_new(true)
            .open(&path)?;
        Ok(Output { path, file })
    }

    /// Moves the file to where it is kept. Returns `false` if that is not possible: its name leads to another file,
    /// the place is on another file system, or the file has changed since it was read.
    pub fn move_to(&self, place: &Utf8Path, bytes_read: u64) -> io::Result<bool> {
        let here = self.file.metadata()?;
        let is_same = self
            .path
            .symlink_metadata()
            .is_ok_and(|named| (named.dev(), named.ino()) == (here.dev(), here.ino()));
        Ok(is_same && here.len() == bytes_read && std::fs::rename(&self.path, place).is_ok())
    }

    /// Takes the file's name away. It can still be read through the handle, and by nobody else.
    pub fn unlink(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    /// Returns the file, to be read from its beginning.
    pub fn rewound(&self) -> io::Result<&File> {
        (&self.file).seek(SeekFrom::Start(0))?;
        Ok(&self.file)
    }
}

/// The beginning and the end of a file, or all of it.
pub(crate) struct FileEnds {
    /// The beginning, or the whole file if it is short.
    pub head: Vec<u8>,
    /// The end of a long file.
    pub tail: Option<Vec<u8>>,
}

impl FileEnds {
    /// Reads a file from its beginning. Of one that is longer than `2 * length`, only so much of each end is read.
    pub(crate) fn read(mut file: &File, length: u64) -> io::Result<Self> {
        let size = file.metadata()?.len();
        let mut head = Vec::new();
        if size <= 2 * length {
            file.read_to_end(&mut head)?;
            return Ok(FileEnds { head, tail: None });
        }
        let mut tail = Vec::new();
        file.take(length).read_to_end(&mut head)?;
        file.seek(SeekFrom::End(-(length as i64)))?;
        file.take(length).read_to_end(&mut tail)?;
        Ok(FileEnds {
            head,
            tail: Some(tail),
        })
    }
}

/// The length of each end of an output that is read as text. The middle of a longer output is not looked at.
const TEXT_END: u64 = 8 * 1024 * 1024;

/// Reads the text of a file, or the beginning and the end of it.
pub(crate) fn read_text(file: &File) -> io::Result<String> {
    let ends = FileEnds::read(file, TEXT_END)?;
    let mut bytes = ends.head;
    bytes.extend(ends.tail.unwrap_or_default());
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_long_file_is_its_two_ends() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let mut ends = |length| {
            file.rewind().unwrap();
            let ends = FileEnds::read(&file, length).unwrap();
            let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
            (text(ends.head), ends.tail.map(text))
        };
        assert_eq!(ends(5), ("0123456789".into(), None));
        assert_eq!(ends(4), ("0123".into(), Some("6789".into())));
    }
}
