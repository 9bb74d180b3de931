//! A file that a command's output goes to.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};

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
        let file = File::options().read(true).append(true).create_new(true).open(&path)?;
        Ok(Output { path, file })
    }

    /// The file, from its beginning.
    pub fn rewound(&self) -> io::Result<&File> {
        (&self.file).seek(SeekFrom::Start(0))?;
        Ok(&self.file)
    }
}
