//! Looking at every entry of a tree.

use std::path::PathBuf;

use crate::tree::cursor::{Cursor, Entering, Entry, Order, Step};
use crate::tree::dir::Dir;
use crate::tree::error::TreeError;
use crate::tree::limits::{Budget, Options};
use crate::tree::meta::Meta;
use crate::tree::notes::{Notes, Why};

/// A visitor's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// Goes on, into the entry if it is a directory.
    Continue,
    /// Goes on after the entry.
    Skip,
    /// Ends the walk.
    End,
}

/// Shows every entry of a tree to a visitor: a directory before its content, the entries of a directory by
/// name. Returns the mount points, which are shown but not entered.
pub fn walk(
    root: &Dir,
    options: &Options<'_>,
    visit: &mut dyn FnMut(&Entry<'_>, &Meta) -> Result<Visit, TreeError>,
) -> Result<Notes, TreeError> {
    let mut notes = Notes::default();
    let mut cursor = Cursor::new(root, options, Order::ByName)?;
    loop {
        match cursor.step()? {
            Step::Done => return Ok(notes),
            Step::End => cursor.leave()?,
            Step::Entry => {
                let Some(meta) = cursor.meta()? else {
                    continue;
                };
                let is_mount = meta.is_mount_in(cursor.here().meta());
                if is_mount {
                    notes.add(cursor.path(), Why::MountPoint);
                } else if meta.is_file() {
                    cursor.budget.take_bytes(meta.allocated.min(meta.size))?;
                }
                match visit(&cursor.entry(meta.kind), &meta)? {
                    Visit::End => return Ok(notes),
                    Visit::Skip => {}
                    Visit::Continue if !meta.is_dir() || is_mount => {}
                    Visit::Continue => {
                        if cursor.enter()? == Entering::Mount {
                            notes.add(cursor.path(), Why::MountPoint);
                        }
                    }
                }
            }
        }
    }
}

/// Returns every entry that is neither a directory nor a mount point, with its path from the root.
pub fn list(root: &Dir, options: &Options<'_>) -> Result<Vec<(PathBuf, Meta)>, TreeError> {
    let mut found = Vec::new();
    let mut budget = Budget::new(options.limits);
    walk(root, options, &mut |entry, meta| {
        if !meta.is_dir() && !meta.is_mount_in(entry.parent.meta()) {
            budget.take_path(entry.path.as_os_str().len())?;
            found.push((entry.path.to_owned(), *meta));
        }
        Ok(Visit::Continue)
    })?;
    Ok(found)
}
