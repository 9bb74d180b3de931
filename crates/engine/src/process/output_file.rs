//! A file that a command's output goes to.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};

/// Made new, under a name that cannot be foreseen, and read through the handle it was made with: nobody can have
/// put something there before, or put something else there since.
#[derive(Debug)]
pub struct Output {
    pub path: Utf8PathBuf,
    file: File,
}

impl Output {
    pub fn create(dir: &Utf8Path) -> io::Result<Self> {
        let path = dir.join(format!("output-{:016x}", fastrand::u64(..)));
        let file = File::options()
            .read(true)
            .append(true)
            .create_new(true)
            .open(&path)?;
        Ok(Output { path, file })
    }

    /// Puts the file itself where it is to be kept, if that can be: if its name still leads to it, on the same file
    /// system, and nobody has changed it after it was read.
    pub fn move_to(&self, place: &Utf8Path, bytes_read: u64) -> io::Result<bool> {
        let (here, named) = (self.file.metadata()?, self.path.symlink_metadata());
        let same = named.is_ok_and(|named| (named.dev(), named.ino()) == (here.dev(), here.ino()));
        Ok(same && here.len() == bytes_read && std::fs::rename(&self.path, place).is_ok())
    }

    /// The file, from its beginning.
    pub fn rewound(&self) -> io::Result<&File> {
        (&self.file).seek(SeekFrom::Start(0))?;
        Ok(&self.file)
    }
}

/// Of a longer output the middle is not looked at.
const LARGEST_OUTPUT: u64 = 16 * 1024 * 1024;

/// The text of a file, or the beginning and the end of it.
pub(crate) fn read_text(mut file: &File) -> io::Result<String> {
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    if size <= LARGEST_OUTPUT {
        file.read_to_end(&mut bytes)?;
    } else {
        file.take(LARGEST_OUTPUT / 2).read_to_end(&mut bytes)?;
        file.seek(SeekFrom::End(-(LARGEST_OUTPUT as i64 / 2)))?;
        file.read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
