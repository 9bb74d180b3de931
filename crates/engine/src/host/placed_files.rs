//! Files and links of the user's that are in a trial's home while commands of the suite run.

use std::fs::File;
use std::io;

use camino::Utf8PathBuf;

/// Files and links in a home. They are removed with the value.
#[derive(Debug, Default)]
pub struct PlacedFiles {
    pub(super) paths: Vec<Utf8PathBuf>,
    /// Keeps what they lead to from being removed meanwhile.
    pub(super) lock: Option<File>,
}

impl PlacedFiles {
    /// Removes them. A file that a command has changed is removed too: it still has what was in it. A directory that a
    /// command has put in its place stays.
    pub fn remove(mut self) -> io::Result<()> {
        self.remove_all()
    }

    fn remove_all(&mut self) -> io::Result<()> {
        use io::ErrorKind::{IsADirectory, NotFound};
        for path in self.paths.drain(..) {
            match fs_err::remove_file(path) {
                Err(error) if !matches!(error.kind(), IsADirectory | NotFound) => {
                    return Err(error);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for PlacedFiles {
    fn drop(&mut self) {
        let _ = self.remove_all();
    }
}
