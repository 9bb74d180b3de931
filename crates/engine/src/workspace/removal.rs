//! Removing directories of trials, and telling what is left.

use camino::Utf8Path;

use crate::tree::{Options, remove};

/// The end of a removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// Nothing of it is there any more.
    Gone,
    /// Somebody uses it, so it was not touched.
    InUse,
    /// These things could not be removed: a line for each.
    Left(Vec<String>),
}

impl Removal {
    /// Removes a directory that nobody uses.
    pub fn of(path: &Utf8Path) -> Self {
        match remove_and_tell(path) {
            left if left.is_empty() => Removal::Gone,
            left => Removal::Left(left),
        }
    }
}

/// Removes a directory. Returns a line for each of the first things that could not be removed, such as a mount, which
/// is never emptied.
pub(crate) fn remove_and_tell(path: &Utf8Path) -> Vec<String> {
    match remove(path, &Options::default()) {
        Ok(removed) => removed.left.lines(path.as_std_path()).collect(),
        Err(error) => vec![error.to_string()],
    }
}
