//! Entries that an operation passed over, and why.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::tree::error::{TreeError, shortened};

/// A reason why an entry was passed over.
#[derive(Debug)]
pub enum Why {
    /// It is a named pipe.
    Fifo,
    /// It is a socket.
    Socket,
    /// It is a device.
    Device,
    /// Something else is mounted there.
    MountPoint,
    /// The system refused.
    Failed(io::Error),
}

impl fmt::Display for Why {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Why::Fifo => "a named pipe",
            Why::Socket => "a socket",
            Why::Device => "a device",
            Why::MountPoint => "something is mounted there",
            Why::Failed(error) => return error.fmt(formatter),
        })
    }
}

/// An entry that was passed over.
#[derive(Debug)]
pub struct Note {
    /// Its path from the root of the tree.
    pub path: PathBuf,
    /// The reason.
    pub why: Why,
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

    pub(super) fn add(&mut self, path: &Path, why: Why) {
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
        let path = below(root, &note.path);
        Err(match note.why {
            Why::Failed(source) => TreeError::io(path, source),
            Why::MountPoint => TreeError::MountPoint { path },
            Why::Fifo | Why::Socket | Why::Device => TreeError::NotAFile { path },
        })
    }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    // An empty path is the root itself, and joining it would add a slash.
    if path.as_os_str().is_empty() {
        return root.to_owned();
    }
    root.join(path)
}
