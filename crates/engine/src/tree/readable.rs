//! Making a tree readable for good.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::process::geteuid;

use crate::tree::dir::Dir;
use crate::tree::error::TreeError;
use crate::tree::limits::Options;
use crate::tree::meta::Kind;
use crate::tree::os;
use crate::tree::walk::{Visit, walk};

/// Gives the owner the right to read everything in a tree, for a tree that several processes will read at
/// once. The superuser needs no right.
pub fn make_readable(root: &Dir, options: &Options<'_>) -> Result<(), TreeError> {
    if geteuid().is_root() {
        return Ok(());
    }
    root.make_writable()
        .map_err(|errno| TreeError::io(root.path(), errno))?;
    walk(root, options, &mut |entry, meta| {
        let needed = match meta.kind {
            Kind::Dir => 0o700,
            Kind::File => 0o400,
            _ => return Ok(Visit::Continue),
        };
        let is_locked = meta.permissions() & needed != needed;
        if is_locked && !meta.is_mount_in(entry.parent.meta()) {
            os::set_mode_in(entry.parent.as_fd(), entry.name.as_bytes(), |found| {
                (found.kind == meta.kind).then_some(found.permissions() | needed)
            })
            .map_err(|errno| entry.parent.error(entry.path, errno))?;
        }
        Ok(Visit::Continue)
    })
    .map(|_| ())
}
