//! Linux: `openat2` and mount numbers where the kernel has them.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::fs::{
    AtFlags, CWD, FileType, IFlags, Mode, OFlags, RawDir, ResolveFlags, SeekFrom, Statx,
    StatxFlags, chmodat, copy_file_range, fstat, ioctl_ficlone, ioctl_getflags, ioctl_setflags,
    makedev, mknodat, openat, openat2, statat, statx,
};
use rustix::io::{Errno, Result, retry_on_intr};

use crate::tree::meta::{Kind, Meta};

/// Opens a directory that may not be listed.
pub const NOT_LISTED: OFlags = OFlags::PATH;

const ALWAYS: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// Opens one name in a directory: never through a link, never on another mount, never waiting for a pipe.
pub fn open_in(dir: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    open(dir, name, flags, ResolveFlags::BENEATH)
}

/// Opens the directory above.
pub fn open_above(dir: BorrowedFd<'_>) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    open(dir, b"..", flags, ResolveFlags::empty())
}

fn open(dir: BorrowedFd<'_>, name: &[u8], flags: OFlags, resolve: ResolveFlags) -> Result<OwnedFd> {
    let flags = flags | ALWAYS;
    if has_openat2() {
        let resolve = resolve | ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
        // The kernel says "again" when something was renamed somewhere meanwhile.
        for _ in 0..100 {
            match openat2(dir, name, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                answer => return answer,
            }
        }
    }
    let opened = retry_on_intr(|| openat(dir, name, flags, Mode::empty()))?;
    if meta_of(opened.as_fd())?.is_mount_in(&meta_of(dir)?) {
        return Err(Errno::XDEV);
    }
    Ok(opened)
}

const UNKNOWN: u8 = 0;
const MISSING: u8 = 1;
const PRESENT: u8 = 2;

/// Old kernels do not have it, and some containers forbid it.
fn has_openat2() -> bool {
    static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
    #[cfg(test)]
    if WITHOUT_OPENAT2.get() {
        return false;
    }
    if STATE.load(Ordering::Relaxed) == UNKNOWN {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let answer = openat2(CWD, c"/", flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        let state = if answer.is_ok() { PRESENT } else { MISSING };
        STATE.store(state, Ordering::Relaxed);
    }
    STATE.load(Ordering::Relaxed) == PRESENT
}

#[cfg(test)]
thread_local! {
    /// Makes this thread do without `openat2`, as old kernels do.
    pub static WITHOUT_OPENAT2: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Makes this thread do without `statx`, too.
    pub static WITHOUT_STATX: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn has_statx() -> bool {
    #[cfg(test)]
    if WITHOUT_STATX.get() {
        return false;
    }
    true
}

/// Gives away each entry of an open directory, until that returns false. Returns whether there was no such entry.
///
/// The handle itself is read from its beginning on, so it must not be listed by two threads at once.
pub fn list(
    dir: BorrowedFd<'_>,
    mut each: impl FnMut(&[u8], u64, FileType) -> bool,
) -> Result<bool> {
    const ROOM: usize = 8 * 1024;
    let mut room = [MaybeUninit::uninit(); ROOM];
    rustix::fs::seek(dir, SeekFrom::Start(0))?;
    let mut entries = RawDir::new(dir, &mut room);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if !each(entry.file_name().to_bytes(), entry.ino(), entry.file_type()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the facts about a name in a directory.
pub fn meta_in(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Meta> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    if has_statx() {
        match statx(
            dir,
            name,
            flags,
            StatxFlags::BASIC_STATS | StatxFlags::MNT_ID,
        ) {
            Err(Errno::NOSYS) => {}
            answer => return answer.map(|found| of_statx(&found)),
        }
    }
    Ok(Meta::of_stat(&statat(dir, name, flags)?))
}

/// Returns the facts about an open file.
pub fn meta_of(file: BorrowedFd<'_>) -> Result<Meta> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let mut meta = match has_statx().then(|| statx(file, c"", AtFlags::EMPTY_PATH, wanted)) {
        Some(Ok(found)) => of_statx(&found),
        None | Some(Err(Errno::NOSYS)) => Meta::of_stat(&fstat(file)?),
        Some(Err(error)) => return Err(error),
    };
    if meta.mount.is_none() {
        meta.mount = mount_by_proc(file);
    }
    Ok(meta)
}

fn of_statx(found: &Statx) -> Meta {
    let kind = FileType::from_raw_mode(u32::from(found.stx_mode));
    let tells_mount = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    Meta {
        kind: Kind::of(kind).unwrap_or(Kind::Device),
        mode: u32::from(found.stx_mode),
        owner: found.stx_uid,
        size: found.stx_size,
        allocated: found.stx_blocks * 512,
        modified: (found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
        changed: (found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec),
        device: makedev(found.stx_dev_major, found.stx_dev_minor),
        inode: found.stx_ino,
        mount: tells_mount.then_some(found.stx_mnt_id),
        is_whiteout: kind == FileType::CharacterDevice
            && (found.stx_rdev_major, found.stx_rdev_minor) == (0, 0),
    }
}

/// Kernels before 5.8 tell the mount only here.
fn mount_by_proc(file: BorrowedFd<'_>) -> Option<u64> {
    let facts = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("mnt_id:"));
    line?.trim().parse().ok()
}

/// Sets the permissions of a name in a directory, if `wanted` makes something of its facts; returns the facts
/// from before. A link that takes the place of the name meanwhile is not followed.
pub fn set_mode_in(
    dir: BorrowedFd<'_>,
    name: &[u8],
    wanted: impl FnOnce(&Meta) -> Option<u32>,
) -> Result<Option<Meta>> {
    // A handle of this kind needs no permission, but nothing can be done with it except by its name in /proc.
    let handle = open(dir, name, OFlags::PATH, ResolveFlags::BENEATH)?;
    let meta = meta_of(handle.as_fd())?;
    let Some(mode) = wanted(&meta) else {
        return Ok(None);
    };
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    chmodat(CWD, path, Mode::from_raw_mode(mode), AtFlags::empty())?;
    Ok(Some(meta))
}

/// Makes a named pipe. Its name must be free.
pub fn make_fifo(dir: BorrowedFd<'_>, name: &[u8], permissions: u32) -> Result<()> {
    mknodat(dir, name, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    set_mode_in(dir, name, |meta| {
        (meta.kind == Kind::Fifo).then_some(permissions)
    })?;
    Ok(())
}

/// Takes away the marks that keep even the superuser from removing a file. Returns true when there were any.
pub fn clear_marks(file: BorrowedFd<'_>) -> bool {
    let marks = IFlags::IMMUTABLE | IFlags::APPEND;
    let Ok(flags) = ioctl_getflags(file) else {
        return false;
    };
    flags.intersects(marks) && ioctl_setflags(file, flags.difference(marks)).is_ok()
}

/// Shares the whole content with another file, where the file system can.
pub fn clone_content(from: &File, to: &File) -> Result<()> {
    ioctl_ficlone(to, from)
}

/// Copies bytes inside the kernel. Both files have them at the same place.
pub fn copy_bytes(from: &File, to: &File, offset: u64, length: usize) -> Result<usize> {
    let mut read_at = offset;
    let mut write_at = offset;
    copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), length)
}
