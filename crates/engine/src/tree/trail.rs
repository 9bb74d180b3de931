//! The way from the root of a tree down to the present directory.

use std::collections::VecDeque;

use rustix::io::Errno;

use crate::tree::dir::Dir;

/// So many handles are kept open; the directories above are opened again by `..` on the way back.
const KEPT_OPEN: usize = 8;

/// The way from the root of a tree down to the present directory, with few handles open.
#[derive(Debug)]
pub(super) struct Trail<'a> {
    root: &'a Dir,
    /// Device and inode of each directory below the root, down to the present one.
    identities: Vec<(u64, u64)>,
    /// The lowest of them. Only the way up to the root may have none.
    open: VecDeque<Dir>,
}

/// A step up did not lead to the directory that the way down came through.
#[derive(Debug)]
pub(super) enum Lost {
    /// Another directory is above now. The trail is at an end: its handles are not those of the way down.
    Moved,
    /// The system refused.
    Refused(Errno),
}

impl<'a> Trail<'a> {
    pub fn new(root: &'a Dir) -> Self {
        Trail {
            root,
            identities: Vec::new(),
            open: VecDeque::new(),
        }
    }

    /// Returns how many levels the present directory is below the root.
    pub fn depth(&self) -> usize {
        self.identities.len()
    }

    /// Returns the present directory.
    pub fn here(&self) -> &Dir {
        self.open.back().unwrap_or(self.root)
    }

    /// Goes down into a directory that was opened in the present one.
    pub fn enter(&mut self, dir: Dir) {
        self.identities.push(dir.meta().identity());
        self.open.push_back(dir);
        if self.open.len() > KEPT_OPEN {
            self.open.pop_front();
        }
    }

    /// Goes up, and returns the directory that was left. At the root it stays there.
    pub fn leave(&mut self) -> (Option<Dir>, Result<(), Lost>) {
        let Some(left) = self.open.pop_back() else {
            return (None, Ok(()));
        };
        self.identities.pop();
        let found = match self.identities.last() {
            Some(expected) if self.open.is_empty() => directory_above(&left, *expected),
            _ => return (Some(left), Ok(())),
        };
        let found = found.map(|above| self.open.push_back(above));
        (Some(left), found)
    }
}

fn directory_above(dir: &Dir, expected: (u64, u64)) -> Result<Dir, Lost> {
    let above = dir.above().map_err(|errno| match errno {
        Errno::XDEV => Lost::Moved,
        other => Lost::Refused(other),
    })?;
    if above.meta().identity() != expected {
        return Err(Lost::Moved);
    }
    Ok(above)
}
