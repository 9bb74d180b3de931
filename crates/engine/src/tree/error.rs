//! The ways in which operations on trees fail, as a whole or for single entries.

use std::io;
use std::path::{Path, PathBuf};

/// A figure that has a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum What {
    /// Bytes on disk.
    #[error("bytes on disk")]
    Bytes,
    /// Files, links, directories and everything else.
    #[error("files and directories")]
    Entries,
    /// The length of one path.
    #[error("bytes in one path")]
    PathLength,
    /// The length of all paths together.
    #[error("bytes of paths")]
    PathBytes,
}

/// A reason why an operation on a tree ended early.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The system refused something.
    #[error("{}{source}", before_reason(path))]
    Io {
        /// The entry it was about. It is empty where the system's answer names it.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// The tree is larger than the limits allow.
    #[error("the tree is too large: more than {limit} {what}")]
    TooLarge {
        /// The figure that is too large.
        what: What,
        /// The most that is allowed.
        limit: u64,
    },
    /// A directory went elsewhere while it was being worked on.
    #[error("{} was moved while it was read", shortened(path))]
    Moved {
        /// The place where the directory was.
        path: PathBuf,
    },
    /// Another file system, or another part of this one, is mounted there.
    #[error("{} is a mount point", shortened(path))]
    MountPoint {
        /// The place of the mount.
        path: PathBuf,
    },
    /// One of two trees contains the other, or both are the same.
    #[error("{} is both the source and the destination of a copy", shortened(path))]
    Overlap {
        /// The directory that is in both.
        path: PathBuf,
    },
    /// A file would take the place of a directory, or a directory that of a file.
    #[error("{} is {} in one of the two directories only", shortened(path), if *is_dir { "a directory" } else { "a file" })]
    OtherKind {
        /// The place in both directories.
        path: PathBuf,
        /// A directory is in the way of a file.
        is_dir: bool,
    },
    /// A path has parts like `..`, or begins at the root, or is empty.
    #[error("{} does not name a place beneath the directory", shortened(path))]
    NotBeneath {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A regular file was expected, and something else is there.
    #[error("{} is not a regular file", shortened(path))]
    NotAFile {
        /// The place that was looked at.
        path: PathBuf,
    },
    /// A directory or file leads elsewhere by a symbolic link.
    #[error("{} is a symbolic link", shortened(path))]
    Link {
        /// The place of the link.
        path: PathBuf,
    },
    /// A file has more bytes than the caller wants to read.
    #[error("{} is larger than {limit} bytes", shortened(path))]
    LongFile {
        /// The file.
        path: PathBuf,
        /// The most that is read.
        limit: u64,
    },
}

impl TreeError {
    pub(crate) fn io(path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        TreeError::Io {
            path: path.into(),
            source: source.into(),
        }
    }

    pub(super) fn too_large(what: What, limit: u64) -> Self {
        TreeError::TooLarge { what, limit }
    }

    /// Returns the kind of the system's error, or the nearest for the other variants.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            TreeError::Io { source, .. } => source.kind(),
            TreeError::Stopped => io::ErrorKind::Interrupted,
            TreeError::TooLarge { .. } => io::ErrorKind::QuotaExceeded,
            TreeError::LongFile { .. } => io::ErrorKind::FileTooLarge,
            TreeError::MountPoint { .. } => io::ErrorKind::CrossesDevices,
            TreeError::NotBeneath { .. }
            | TreeError::Overlap { .. }
            | TreeError::NotAFile { .. }
            | TreeError::Link { .. } => io::ErrorKind::InvalidInput,
            TreeError::Moved { .. } | TreeError::OtherKind { .. } => io::ErrorKind::Other,
        }
    }

    /// Returns true when the entry is not there.
    pub fn is_not_found(&self) -> bool {
        self.kind() == io::ErrorKind::NotFound
    }
}

/// For errors that name their entries.
impl From<io::Error> for TreeError {
    fn from(source: io::Error) -> Self {
        TreeError::io("", source)
    }
}

impl From<TreeError> for io::Error {
    fn from(error: TreeError) -> Self {
        io::Error::new(error.kind(), error)
    }
}

/// Returns the beginning of a message about a path.
fn before_reason(path: &Path) -> String {
    match path.as_os_str().is_empty() {
        true => String::new(),
        false => format!("{}: ", shortened(path)),
    }
}

/// Returns a path for people: a path of many kilobytes would bury the message.
fn shortened(path: &Path) -> String {
    const KEPT: usize = 120;
    let text = path.to_string_lossy();
    let length = text.chars().count();
    if length <= 2 * KEPT + 1 {
        return text.into_owned();
    }
    let start: String = text.chars().take(KEPT).collect();
    let end: String = text.chars().skip(length - KEPT).collect();
    format!("{start}…{end}")
}

/// Returns the reason why a mount is passed over.
pub(super) fn mounted() -> io::Error {
    io::Error::new(io::ErrorKind::CrossesDevices, "something is mounted there")
}

/// An entry that was passed over.
#[derive(Debug)]
pub struct Note {
    /// Its path from the root of the tree.
    pub path: PathBuf,
    /// The reason.
    pub why: io::Error,
}

/// The entries that were passed over: their number, and the first of them.
#[derive(Debug, Default)]
pub struct Notes {
    /// The first entries. A hostile tree could have millions.
    pub first: Vec<Note>,
    /// The number of all.
    pub total: u64,
}

impl Notes {
    const KEPT: usize = 100;

    /// Returns true when nothing was passed over.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub(super) fn add(&mut self, path: &Path, why: io::Error) {
        if self.first.iter().any(|note| note.path == path) {
            return;
        }
        self.total += 1;
        if self.first.len() < Notes::KEPT {
            self.first.push(Note {
                path: path.to_owned(),
                why,
            });
        }
    }

    /// Returns a line for each of the first entries: its path below `root`, and the reason.
    pub fn lines(&self, root: &Path) -> impl Iterator<Item = String> {
        const MOST: usize = 5;
        let shown = self.first.iter().take(MOST).map(move |note| {
            let path = shortened(&below(root, &note.path));
            format!("{path}: {}", note.why)
        });
        let more = self.total.saturating_sub(MOST as u64);
        shown.chain((more > 0).then(|| format!("{more} more")))
    }

    /// Turns the first note into an error, for callers to whom a part is not enough.
    pub fn into_result(self, root: &Path) -> Result<(), TreeError> {
        let Some(note) = self.first.into_iter().next() else {
            return Ok(());
        };
        Err(TreeError::io(below(root, &note.path), note.why))
    }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    // An empty path is the root itself, and joining it would add a slash.
    if path.as_os_str().is_empty() {
        return root.to_owned();
    }
    root.join(path)
}
