//! Systems without `openat2`: one name at a time, and another mount is seen by its device.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, chmodat, fstat, openat, statat};
use rustix::io::{Errno, Result, retry_on_intr};

use crate::tree::meta::Meta;

/// There is no way to open a directory that may not be listed.
pub const NOT_LISTED: OFlags = OFlags::empty();

/// Opens one name in a directory: never through a link, never on another mount, never waiting for a pipe.
pub fn open_in(dir: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd> {
    open(dir, name, flags | OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Opens the directory above.
pub fn open_above(dir: BorrowedFd<'_>) -> Result<OwnedFd> {
    open(dir, b"..", OFlags::RDONLY | OFlags::DIRECTORY)
}

fn open(dir: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| openat(dir, name, flags, Mode::empty()))?;
    if meta_of(opened.as_fd())?.device != meta_of(dir)?.device {
        return Err(Errno::XDEV);
    }
    Ok(opened)
}

/// Gives away each entry of an open directory, until that returns false. Returns whether there was no such entry.
pub fn list(
    dir: BorrowedFd<'_>,
    mut each: impl FnMut(&[u8], u64, FileType) -> bool,
) -> Result<bool> {
    let mut listing = rustix::fs::Dir::read_from(dir)?;
    while let Some(entry) = listing.read() {
        let entry = entry?;
        if !each(entry.file_name().to_bytes(), entry.ino(), entry.file_type()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the facts about a name in a directory.
pub fn meta_in(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Meta> {
    let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Meta::of_stat(&stat))
}

/// Returns the facts about an open file.
pub fn meta_of(file: BorrowedFd<'_>) -> Result<Meta> {
    Ok(Meta::of_stat(&fstat(file)?))
}

/// Sets the permissions of a name in a directory, if `wanted` makes something of its facts; returns the facts
/// from before. A link that takes the place of the name meanwhile is not followed.
pub fn set_mode_in(
    dir: BorrowedFd<'_>,
    name: &[u8],
    wanted: impl FnOnce(&Meta) -> Option<u32>,
) -> Result<Option<Meta>> {
    let meta = meta_in(dir, name)?;
    let Some(mode) = wanted(&meta) else {
        return Ok(None);
    };
    let mode = Mode::from_raw_mode(mode as RawMode);
    chmodat(dir, name, mode, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Some(meta))
}

/// Makes a named pipe, where the system can.
pub fn make_fifo(_dir: BorrowedFd<'_>, _name: &[u8], _permissions: u32) -> Result<()> {
    Err(Errno::OPNOTSUPP)
}

/// Takes away the marks that keep even the superuser from removing a file. Returns true when there were any.
pub fn clear_marks(_file: BorrowedFd<'_>) -> bool {
    false
}

/// Shares the whole content with another file, where the file system can.
pub fn clone_content(_from: &File, _to: &File) -> Result<()> {
    Err(Errno::OPNOTSUPP)
}

/// Copies bytes inside the kernel. Both files have them at the same place.
pub fn copy_bytes(_from: &File, _to: &File, _offset: u64, _length: usize) -> Result<usize> {
    Err(Errno::OPNOTSUPP)
}

/// Copies no extended attributes: their names and meanings differ from system to system.
pub fn copy_attributes(_from: BorrowedFd<'_>, _to: BorrowedFd<'_>) {}
