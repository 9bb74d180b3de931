//! Moving a directory, across file systems if need be.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::renameat;
use rustix::io::Errno;

use crate::tree::copy::{Copied, copy};
use crate::tree::dir::{Dir, set_mode, set_time};
use crate::tree::error::TreeError;
use crate::tree::limits::Options;
use crate::tree::remove::remove_at;

/// Moves a directory into another, under a name that is free. Where it cannot be renamed it is copied and then
/// removed; the answer tells about the copy.
pub fn move_dir(
    from: &Dir,
    name: &OsStr,
    to: &Dir,
    new_name: &OsStr,
    options: &Options<'_>,
) -> Result<Option<Copied>, TreeError> {
    match renameat(from, name, to, new_name) {
        Ok(()) => return Ok(None),
        Err(Errno::XDEV | Errno::ACCESS) => {}
        Err(errno) => return Err(from.error(name, errno)),
    }
    // A directory that its owner may not change cannot be renamed either.
    let (source, locked) = from
        .child_unlocked(name.as_bytes())
        .map_err(|errno| from.error(name, errno))?;
    let source = source.with_path(from.path().join(name));
    let mut meta = *source.meta();
    let before = source.make_writable();
    let before = before.map_err(|errno| from.error(name, errno))?;
    if let Some(permissions) = locked.or(before) {
        meta.mode = meta.mode & !0o7777 | permissions;
    }
    match renameat(from, name, to, new_name) {
        Ok(()) => {
            set_mode(source.as_fd(), meta.permissions())
                .map_err(|errno| to.error(new_name, errno))?;
            return Ok(None);
        }
        Err(Errno::XDEV) => {}
        Err(errno) => return Err(from.error(name, errno)),
    }
    let target = to.create_dir(new_name, 0o700)?;
    let copied = copy(&source, &target, options, &mut |_| Ok(true))?;
    set_mode(target.as_fd(), meta.permissions())
        .and_then(|()| set_time(target.as_fd(), &meta))
        .map_err(|errno| to.error(new_name, errno))?;
    let removed = remove_at(from, name, options)?;
    removed.left.into_result(source.path())?;
    Ok(Some(copied))
}
