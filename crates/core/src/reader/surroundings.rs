//! The file system and the environment as the reader sees them.

use camino::{Utf8Path, Utf8PathBuf};

/// Answers questions about the file system and Terca's environment. The engine asks the real ones, tests imagined ones.
pub trait Surroundings {
    /// Returns the kind of a path, with symbolic links followed.
    fn kind(&self, path: &Utf8Path) -> PathKind;
    /// Returns the target of a symbolic link, as written in it.
    fn link_target(&self, path: &Utf8Path) -> Option<Utf8PathBuf>;
    /// Reads a file, or says why it cannot be read.
    fn read_text(&self, path: &Utf8Path) -> Result<String, String>;
    /// Returns a variable of the environment that Terca runs in.
    fn variable(&self, name: &str) -> Option<String>;
    /// Returns the files below a directory, sorted. Links are not followed.
    fn files_below(&self, dir: &Utf8Path) -> Vec<Utf8PathBuf>;
    /// Returns the names in a directory, sorted. There are none where it cannot be read.
    fn names_in(&self, dir: &Utf8Path) -> Vec<String>;
    /// Returns whether a file can be started. One that is missing counts as such: others say that it is.
    fn is_executable(&self, path: &Utf8Path) -> bool;
    /// Returns whether files may be missing that the suite names, because a worker has those alone that its trials use. Then
    /// the fingerprints of these trials tell whether all of them are there.
    fn is_partial(&self) -> bool {
        false
    }
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
