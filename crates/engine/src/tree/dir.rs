//! An open directory.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RawMode, Timespec, Timestamps, fchmod, futimens, openat};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::geteuid;

use crate::tree::error::TreeError;
use crate::tree::meta::{Kind, Meta};
use crate::tree::names::Names;
use crate::tree::os;

/// An open directory. It stays the same one when somebody renames it or puts a link in its place.
#[derive(Debug)]
pub struct Dir {
    handle: OwnedFd,
    meta: Meta,
    /// For messages alone.
    path: PathBuf,
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl Dir {
    /// Opens a directory by a path that the caller trusts; links in it are followed.
    pub fn open(path: impl AsRef<Path>) -> Result<Dir, TreeError> {
        Dir::open_with(path.as_ref(), OFlags::empty())
    }

    /// Opens a directory by a path whose last name must not be a link.
    pub fn open_no_link(path: impl AsRef<Path>) -> Result<Dir, TreeError> {
        Dir::open_with(path.as_ref(), OFlags::NOFOLLOW)
    }

    /// Opens a directory in which a name is to be removed or opened, and which may not be listed.
    pub(super) fn open_parent(path: &Path) -> Result<Dir, TreeError> {
        match Dir::open(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Dir::open_with(path, os::NOT_LISTED)
            }
            opened => opened,
        }
    }

    fn open_with(path: &Path, more: OFlags) -> Result<Dir, TreeError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | more;
        let handle = retry_on_intr(|| openat(CWD, path, flags, Mode::empty()))
            .map_err(|error| TreeError::io(path, error))?;
        let meta = os::meta_of(handle.as_fd()).map_err(|error| TreeError::io(path, error))?;
        Ok(Dir {
            handle,
            meta,
            path: path.to_owned(),
        })
    }

    /// Returns the path by which it was opened. The directory may be elsewhere by now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the facts about the directory, as they were when it was opened.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Sets the permissions of the directory.
    pub fn set_mode(&self, mode: u32) -> Result<(), TreeError> {
        set_mode(self.as_fd(), mode).map_err(|errno| TreeError::io(&self.path, errno))
    }

    /// Gives the directory the permissions and the time of the last change that another had.
    pub fn set_facts(&self, of: &Meta) -> Result<(), TreeError> {
        set_mode(self.as_fd(), of.permissions())
            .and_then(|()| set_time(self.as_fd(), of))
            .map_err(|errno| TreeError::io(&self.path, errno))
    }

    pub(super) fn with_path(self, path: PathBuf) -> Dir {
        Dir { path, ..self }
    }

    fn of(handle: OwnedFd) -> Result<Dir, Errno> {
        let meta = os::meta_of(handle.as_fd())?;
        Ok(Dir {
            handle,
            meta,
            path: PathBuf::new(),
        })
    }

    /// Opens a directory in this one. `XDEV` means a mount, `LOOP` or `NOTDIR` a link or another kind.
    pub(super) fn child(&self, name: &[u8]) -> Result<Dir, Errno> {
        Dir::of(os::open_in(
            self.as_fd(),
            name,
            OFlags::RDONLY | OFlags::DIRECTORY,
        )?)
    }

    /// Opens the directory above.
    pub(super) fn above(&self) -> Result<Dir, Errno> {
        Dir::of(os::open_above(self.as_fd())?)
    }

    /// Opens a directory in this one, after giving its owner the right to where it is missing. The permissions
    /// from before come with it.
    pub(super) fn child_unlocked(&self, name: &[u8]) -> Result<(Dir, Option<u32>), Errno> {
        match self.child(name) {
            Err(Errno::ACCESS) => {}
            // The right to read lets it open, but its entries cannot be reached without the right to search.
            Ok(dir) if dir.meta.permissions() & 0o500 != 0o500 && !geteuid().is_root() => {
                let before = dir.make_writable()?;
                return Ok((dir, before));
            }
            answer => return answer.map(|dir| (dir, None)),
        }
        let before = os::set_mode_in(self.as_fd(), name, |meta| {
            meta.is_dir().then_some(meta.permissions() | 0o700)
        })?;
        let dir = self.child(name)?;
        Ok((dir, before.map(|meta| meta.permissions())))
    }

    /// Opens a regular file in this directory for reading, and returns its facts.
    pub(super) fn file(&self, name: &[u8], unlock: bool) -> Result<(File, Meta), Errno> {
        let (handle, before) = match os::open_in(self.as_fd(), name, OFlags::RDONLY) {
            Err(Errno::ACCESS) if unlock => {
                let before = os::set_mode_in(self.as_fd(), name, |meta| {
                    meta.is_file().then_some(meta.permissions() | 0o400)
                })?;
                let handle = os::open_in(self.as_fd(), name, OFlags::RDONLY)?;
                (handle, before)
            }
            answer => (answer?, None),
        };
        let mut meta = os::meta_of(handle.as_fd())?;
        // What is open stays open without the right to open it.
        if let Some(before) = before
            && before.identity() == meta.identity()
        {
            set_mode(handle.as_fd(), before.permissions())?;
            meta.mode = before.mode;
        }
        Ok((File::from(handle), meta))
    }

    /// Returns the facts about a name in this directory.
    pub(super) fn meta_in(&self, name: &[u8]) -> Result<Meta, Errno> {
        os::meta_in(self.as_fd(), name)
    }

    /// Makes sure that the owner may change what is in the directory. Returns the permissions from before if they
    /// had to change.
    pub(super) fn make_writable(&self) -> Result<Option<u32>, Errno> {
        let before = os::meta_of(self.as_fd())?.permissions();
        if before & 0o700 == 0o700 {
            return Ok(None);
        }
        match set_mode(self.as_fd(), before | 0o700) {
            Err(Errno::PERM) if os::clear_marks(self.as_fd()) => {
                set_mode(self.as_fd(), before | 0o700)?;
            }
            answer => answer?,
        }
        Ok(Some(before))
    }

    /// Returns at most so many of the names in the directory, in no order.
    pub(super) fn names_up_to(&self, most: u64) -> io::Result<Names> {
        let mut names = Names::default();
        names.is_complete = os::list(self.as_fd(), |name, inode, kind| {
            if name == b"." || name == b".." {
                return true;
            }
            if names.len() as u64 >= most {
                return false;
            }
            names.push(name, inode, Kind::of(kind));
            true
        })?;
        Ok(names)
    }

    /// Returns the error for an entry of this directory.
    pub(super) fn error(&self, name: impl AsRef<Path>, errno: Errno) -> TreeError {
        let path = self.path.join(name);
        match errno {
            Errno::XDEV => TreeError::MountPoint { path },
            Errno::LOOP => TreeError::Link { path },
            other => TreeError::io(path, other),
        }
    }
}

pub(super) fn set_mode(file: BorrowedFd<'_>, permissions: u32) -> Result<(), Errno> {
    // The type is narrower on other systems.
    fchmod(file, Mode::from_raw_mode(permissions as RawMode))
}

pub(super) fn set_time(file: BorrowedFd<'_>, meta: &Meta) -> Result<(), Errno> {
    futimens(file, &times(meta))
}

/// The time of the last change for both: nobody relies on the time of the last reading.
pub(super) fn times(meta: &Meta) -> Timestamps {
    let time = Timespec {
        tv_sec: meta.modified.0,
        tv_nsec: meta.modified.1.into(),
    };
    Timestamps {
        last_access: time,
        last_modification: time,
    }
}

pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
