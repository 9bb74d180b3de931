//! Limits of a tree, and the options that all operations share.

use std::fmt;
use std::path::Path;

use crate::tree::error::{TreeError, What};

/// The longest path below the root of a tree: the kernel takes no longer one.
pub(super) const LONGEST_PATH: u64 = 4095;

/// The most that a tree may have. A path longer than the kernel takes is always too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that the files really take. Holes of sparse files are free.
    pub bytes: u64,
    /// Files, links, directories and everything else.
    pub entries: u64,
    /// Bytes of all paths together.
    pub path_bytes: u64,
}

impl Default for Limits {
    /// Far more than any project has that agents work on.
    fn default() -> Self {
        Limits {
            bytes: 20 << 30,
            entries: 1_000_000,
            path_bytes: 256 << 20,
        }
    }
}

impl Limits {
    /// No limits at all.
    pub const NONE: Limits = Limits {
        bytes: u64::MAX,
        entries: u64::MAX,
        path_bytes: u64::MAX,
    };
}

/// Somebody who may ask an operation to stop.
pub trait ShouldStop {
    /// Returns true once the operation is to stop.
    fn should_stop(&self) -> bool;
}

impl<F: Fn() -> bool> ShouldStop for F {
    fn should_stop(&self) -> bool {
        self()
    }
}

/// The settings of an operation on a tree.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The most that the tree may have.
    pub limits: Limits,
    /// Lets the operation read files and directories that their owner, who runs Terca, may not read. Their
    /// permissions are put back afterwards. Not for trees that several processes read at once.
    pub unlock: bool,
    /// Asked between pieces. Once it answers true the operation ends with [`TreeError::Stopped`].
    pub should_stop: &'a dyn ShouldStop,
}

/// No limits, and everything is read.
impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            limits: Limits::NONE,
            unlock: true,
            should_stop: &|| false,
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("limits", &self.limits)
            .field("unlock", &self.unlock)
            .finish_non_exhaustive()
    }
}

impl Options<'_> {
    /// Returns options under which nothing is changed, for trees that others read at the same time.
    pub fn reading() -> Self {
        Options {
            unlock: false,
            ..Options::default()
        }
    }

    /// Returns an error once the operation is to stop.
    pub(crate) fn check_stop(&self) -> Result<(), TreeError> {
        if self.should_stop.should_stop() {
            return Err(TreeError::Stopped);
        }
        Ok(())
    }
}

/// Counts what an operation has met so far.
#[derive(Debug)]
pub(super) struct Budget {
    limits: Limits,
    pub bytes: u64,
    pub entries: u64,
    path_bytes: u64,
}

impl Budget {
    pub fn new(limits: Limits) -> Self {
        Budget {
            limits,
            bytes: 0,
            entries: 0,
            path_bytes: 0,
        }
    }

    /// Returns how many more entries are allowed.
    pub fn entries_left(&self) -> u64 {
        self.limits.entries - self.entries
    }

    pub fn take_entry(&mut self, path: &Path) -> Result<(), TreeError> {
        let length = path.as_os_str().len() as u64;
        let limits = self.limits;
        take(&mut 0, length, LONGEST_PATH, What::PathLength)?;
        take(
            &mut self.path_bytes,
            length,
            limits.path_bytes,
            What::PathBytes,
        )?;
        take(&mut self.entries, 1, limits.entries, What::Entries)
    }

    pub fn take_bytes(&mut self, bytes: u64) -> Result<(), TreeError> {
        take(&mut self.bytes, bytes, self.limits.bytes, What::Bytes)
    }
}

fn take(used: &mut u64, more: u64, limit: u64, what: What) -> Result<(), TreeError> {
    let sum = used.saturating_add(more);
    if sum > limit {
        return Err(TreeError::too_large(what, limit));
    }
    *used = sum;
    Ok(())
}
