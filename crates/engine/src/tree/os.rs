//! The system calls that differ between systems and kernels.

use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, openat};
#[cfg(target_os = "linux")]
use rustix::fs::{CWD, IFlags, ResolveFlags, StatxFlags, XattrFlags, openat2};
use rustix::io::{Errno, Result, retry_on_intr};

use crate::tree::meta::Meta;

/// Opens a directory that may not be listed.
#[cfg(target_os = "linux")]
pub const NOT_LISTED: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub const NOT_LISTED: OFlags = OFlags::empty();

#[cfg(all(test, target_os = "linux"))]
thread_local! {
    /// Makes this thread do without `openat2`, as old kernels do.
    pub static WITHOUT_OPENAT2: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Opens a path beneath a directory: never through a link, never on another mount, never waiting for a pipe.
/// `LOOP` means a link, `XDEV` a mount.
pub fn open_in(dir: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    let mut flags = flags | OFlags::CLOEXEC;
    if NOT_LISTED.is_empty() || !flags.contains(NOT_LISTED) {
        flags |= OFlags::NONBLOCK | OFlags::NOCTTY;
    }
    #[cfg(target_os = "linux")]
    if let Some(answer) = open_at_once(dir, path, flags) {
        return answer;
    }
    let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) else {
        return open_name(dir, path, flags);
    };
    let parent = open_in(dir, parent, OFlags::RDONLY | OFlags::DIRECTORY)?;
    open_name(
        parent.as_fd(),
        Path::new(path.file_name().unwrap_or_default()),
        flags,
    )
}

/// Returns none where the kernel is too old or a container forbids the call.
#[cfg(target_os = "linux")]
fn open_at_once(dir: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Option<Result<OwnedFd>> {
    #[cfg(test)]
    if WITHOUT_OPENAT2.get() {
        return None;
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    // The kernel says "again" when something was renamed somewhere meanwhile.
    for _ in 0..100 {
        match openat2(dir, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::NOSYS | Errno::PERM) => return None,
            answer => return Some(answer),
        }
    }
    None
}

fn open_name(dir: BorrowedFd<'_>, name: &Path, flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW;
    let opened = match retry_on_intr(|| openat(dir, name, flags, Mode::empty())) {
        // Some systems answer so for a link to a directory.
        Err(Errno::NOTDIR) if meta_in(dir, name).is_ok_and(|meta| meta.is_link()) => {
            return Err(Errno::LOOP);
        }
        answer => answer?,
    };
    match meta_of(opened.as_fd())? {
        meta if meta.is_mount_in(&meta_of(dir)?) => Err(Errno::XDEV),
        meta if meta.is_link() => Err(Errno::LOOP),
        _ => Ok(opened),
    }
}

/// Returns the facts about a name in a directory.
pub fn meta_in(dir: BorrowedFd<'_>, name: &Path) -> Result<Meta> {
    #[cfg(target_os = "linux")]
    {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        rustix::fs::statx(dir, name, flags, wanted).map(|found| Meta::of_statx(&found))
    }
    #[cfg(not(target_os = "linux"))]
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|found| Meta::of_stat(&found))
}

/// Returns the facts about an open file.
pub fn meta_of(file: BorrowedFd<'_>) -> Result<Meta> {
    #[cfg(target_os = "linux")]
    {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, wanted)
            .map(|found| Meta::of_statx(&found))
    }
    #[cfg(not(target_os = "linux"))]
    rustix::fs::fstat(file).map(|found| Meta::of_stat(&found))
}

/// Sets the permissions of a name in a directory, if `wanted` makes something of its facts; returns the facts
/// from before. A link that takes the place of the name meanwhile is not followed.
pub fn set_mode_in(
    dir: BorrowedFd<'_>,
    name: &Path,
    wanted: impl FnOnce(&Meta) -> Option<u32>,
) -> Result<Option<Meta>> {
    // A handle of this kind needs no permission, but nothing can be done with it except by its name in /proc.
    #[cfg(target_os = "linux")]
    let handle = open_in(dir, name, OFlags::PATH)?;
    #[cfg(target_os = "linux")]
    let (meta, dir, name, flags) = (
        meta_of(handle.as_fd())?,
        CWD,
        format!("/proc/self/fd/{}", handle.as_raw_fd()),
        AtFlags::empty(),
    );
    #[cfg(not(target_os = "linux"))]
    let (meta, flags) = (meta_in(dir, name)?, AtFlags::SYMLINK_NOFOLLOW);
    let Some(mode) = wanted(&meta) else {
        return Ok(None);
    };
    // The type is narrower on other systems.
    let mode = Mode::from_raw_mode(mode as rustix::fs::RawMode);
    rustix::fs::chmodat(dir, name, mode, flags)?;
    Ok(Some(meta))
}

/// Takes away the marks that keep even the superuser from removing a file. Returns true when there were any.
#[cfg(target_os = "linux")]
pub fn clear_marks(file: BorrowedFd<'_>) -> bool {
    let marks = IFlags::IMMUTABLE | IFlags::APPEND;
    let Ok(flags) = rustix::fs::ioctl_getflags(file) else {
        return false;
    };
    flags.intersects(marks) && rustix::fs::ioctl_setflags(file, flags.difference(marks)).is_ok()
}

/// Shares the whole content with another file, where the file system can.
#[cfg(target_os = "linux")]
pub fn clone_content(from: &File, to: &File) -> Result<()> {
    rustix::fs::ioctl_ficlone(to, from)
}

/// Copies the extended attributes that users give to files, as far as the file system of the copy takes them.
#[cfg(target_os = "linux")]
pub fn copy_attributes(from: BorrowedFd<'_>, to: BorrowedFd<'_>) {
    // The kernel has the same limit for all names, and for one value.
    const LONGEST: usize = 64 * 1024;
    // Nearly all files have none: the question alone takes no memory.
    let Ok(length @ 1..) = rustix::fs::flistxattr_query(from) else {
        return;
    };
    let mut names = vec![0; length.min(LONGEST)];
    let Ok(length) = rustix::fs::flistxattr(from, &mut names[..]) else {
        return;
    };
    let mut value = vec![0; LONGEST];
    for name in names[..length].split(|byte| *byte == 0) {
        // Those of a mounted workspace tell its own state, and would be taken for a state in a copy.
        if !name.starts_with(b"user.") || name.starts_with(b"user.overlay.") {
            continue;
        }
        if let Ok(length) = rustix::fs::fgetxattr(from, name, &mut value[..]) {
            // A full or simple file system has no place for it.
            let _ = rustix::fs::fsetxattr(to, name, &value[..length], XattrFlags::empty());
        }
    }
}

/// Other systems copy no attributes, whose names and meanings differ, and know no marks.
#[cfg(not(target_os = "linux"))]
mod other {
    use super::*;

    pub fn clear_marks(_: BorrowedFd<'_>) -> bool {
        false
    }

    pub fn clone_content(_: &File, _: &File) -> Result<()> {
        Err(Errno::OPNOTSUPP)
    }

    pub fn copy_attributes(_: BorrowedFd<'_>, _: BorrowedFd<'_>) {}
}
#[cfg(not(target_os = "linux"))]
pub use other::*;
