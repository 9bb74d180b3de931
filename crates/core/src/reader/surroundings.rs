//! The file system as the reader sees it.

use camino::{Utf8Path, Utf8PathBuf};

/// Answers questions about the file system. The engine asks the real one, tests an imagined one.
pub trait Surroundings {
    /// Returns the kind of a path, with symbolic links followed.
    fn kind(&self, path: &Utf8Path) -> PathKind;
    /// Returns the target of a symbolic link, as written in it.
    fn link_target(&self, path: &Utf8Path) -> Option<Utf8PathBuf>;
    /// Reads a file, or says why it cannot be read.
    fn read_text(&self, path: &Utf8Path) -> Result<String, String>;
}

/// The kind of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// Nothing is there.
    Missing,
    /// A file.
    File,
    /// A directory.
    Directory,
}
