//! A directory whose space has a limit.

use camino::Utf8PathBuf;

/// A directory whose space has a limit.
#[derive(Debug, Clone)]
pub struct WatchedDir {
    /// The words for it.
    pub name: &'static str,
    /// The directory.
    pub dir: Utf8PathBuf,
    /// The mount through which commands write to it, if it is another file system for them.
    pub mount: Option<Utf8PathBuf>,
}

impl WatchedDir {
    /// Describes a directory that commands find by the same path.
    pub fn new(name: &'static str, dir: Utf8PathBuf) -> Self {
        WatchedDir {
            name,
            dir,
            mount: None,
        }
    }
}
