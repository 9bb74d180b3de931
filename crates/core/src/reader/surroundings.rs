//! The file system and the environment as the reader sees them.

use camino::{Utf8Path, Utf8PathBuf};

/// Answers questions about the file system and Terca's environment. The engine asks the real ones, tests imagined ones;
/// by default there are no files and no variables.
pub trait Surroundings {
    /// Returns the kind of a path, with symbolic links followed.
    fn kind(&self, _: &Utf8Path) -> PathKind {
        PathKind::Missing
    }
    /// Returns a path without links.
    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        path.to_owned()
    }
    /// Reads a file, or says why it cannot be read.
    fn read_text(&self, _: &Utf8Path) -> Result<String, String> {
        Err("there are no files".into())
    }
    /// Returns a variable of the environment that Terca runs in.
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
    /// Returns the files below a directory, sorted. Links are not followed.
    fn files_below(&self, _: &Utf8Path) -> Vec<Utf8PathBuf> {
        Vec::new()
    }
    /// Returns the names in a directory, sorted. There are none where it cannot be read.
    fn names_in(&self, _: &Utf8Path) -> Vec<String> {
        Vec::new()
    }
    /// Returns whether a file can be started. One that is missing counts as such: others say that it is.
    fn is_executable(&self, _: &Utf8Path) -> bool {
        true
    }
    /// Returns the beginning of a file up to the end of its first line, if it is text.
    fn first_line(&self, path: &Utf8Path) -> Option<String> {
        let text = self.read_text(path).ok()?;
        text.split('\n').next().map(str::to_owned)
    }
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

/// The reason why a script cannot be started, and what helps.
pub(crate) struct Unstartable {
    /// The reason: `is not executable`.
    pub why: &'static str,
    /// A command that helps, before the file.
    pub fix: &'static str,
}

/// Returns why a script cannot be started, or cannot be read by a shell where it `is_read` by one.
pub(crate) fn unstartable(
    path: &Utf8Path,
    is_read: bool,
    surroundings: &dyn Surroundings,
) -> Option<Unstartable> {
    if !is_read && !surroundings.is_executable(path) {
        return Some(Unstartable {
            why: "is not executable",
            fix: "chmod +x",
        });
    }
    let first = surroundings.first_line(path)?;
    let is_script = is_read || first.starts_with("#!");
    (is_script && first.ends_with('\r')).then_some(Unstartable {
        why: "has the line ends of Windows (CR LF), which no shell understands",
        fix: "sed -i 's/\\r$//'",
    })
}
