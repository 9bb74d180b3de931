//! The size of a tree.

use crate::tree::cursor::Cursor;
use crate::tree::cursor::{Entering, Order, Step};
use crate::tree::dir::Dir;
use crate::tree::error::TreeError;
use crate::tree::limits::Options;

/// The size of a tree. A file with several names counts once for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Files, links, directories and everything else.
    pub entries: u64,
    /// The bytes that files really take, mounts left out.
    pub allocated: u64,
    /// The length of all files, holes included.
    pub length: u64,
    /// Levels of directories below the root.
    pub depth: u64,
}

/// Measures a tree. A tree beyond the limits is [`TreeError::TooLarge`].
pub fn measure(root: &Dir, options: &Options<'_>) -> Result<Size, TreeError> {
    let mut size = Size::default();
    let mut cursor = Cursor::new(root, options, Order::ByName)?;
    loop {
        match cursor.step()? {
            Step::Done => break,
            Step::End => cursor.leave()?,
            Step::Entry => {
                let Some(meta) = cursor.meta()? else {
                    continue;
                };
                if meta.is_mount_in(cursor.here().meta()) {
                    continue;
                }
                if meta.is_dir() {
                    if cursor.enter()? == Entering::Entered {
                        size.depth = size.depth.max(cursor.depth() as u64);
                    }
                } else if meta.is_file() {
                    cursor.budget.take_bytes(meta.allocated)?;
                    size.length = size.length.saturating_add(meta.size);
                }
            }
        }
    }
    size.entries = cursor.budget.entries;
    size.allocated = cursor.budget.bytes;
    Ok(size)
}
