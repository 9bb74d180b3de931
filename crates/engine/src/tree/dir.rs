//! An open directory, and single files beneath it.
//!
//! Paths beneath a directory have only plain names, and nothing leads out of it: no link, no `..`, no mount.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RawMode, Timespec, Timestamps, fchmod, futimens, mkdirat, openat,
    renameat, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::geteuid;

use crate::tree::error::{TreeError, What};
use crate::tree::limits::LONGEST_PATH;
use crate::tree::meta::{Kind, Meta};
use crate::tree::os;

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// An open directory. It stays the same one when somebody renames it or puts a link in its place.
#[derive(Debug)]
pub struct Dir {
    handle: OwnedFd,
    meta: Meta,
    /// For messages alone.
    path: PathBuf,
    /// The permissions that it gets back when it is closed.
    put_back: Option<u32>,
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        if let Some(permissions) = self.put_back {
            let _ = set_mode(self.as_fd(), permissions);
        }
    }
}

/// A name in a directory, with its kind where the file system tells it.
#[derive(Debug)]
pub(super) struct Listed {
    pub name: OsString,
    pub inode: u64,
    pub kind: Option<Kind>,
}

/// Opening, and the facts about a directory.
impl Dir {
    /// Opens a directory by a path that the caller trusts; links in it are followed.
    pub fn open(path: impl AsRef<Path>) -> Result<Dir, TreeError> {
        Dir::open_with(path.as_ref(), OFlags::empty())
    }

    /// Opens a directory by a path whose last name must not be a link.
    pub fn open_no_link(path: impl AsRef<Path>) -> Result<Dir, TreeError> {
        Dir::open_with(path.as_ref(), OFlags::NOFOLLOW)
    }

    /// Opens a directory in which a name is to be removed, and which may not be listed.
    pub(super) fn open_parent(path: &Path) -> Result<Dir, TreeError> {
        match Dir::open(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Dir::open_with(path, os::NOT_LISTED)
            }
            opened => opened,
        }
    }

    fn open_with(path: &Path, more: OFlags) -> Result<Dir, TreeError> {
        let flags = DIRECTORY | OFlags::CLOEXEC | more;
        retry_on_intr(|| openat(CWD, path, flags, Mode::empty()))
            .and_then(|handle| Dir::of(handle, path.to_owned()))
            .map_err(|error| TreeError::io(path, error))
    }

    fn of(handle: OwnedFd, path: PathBuf) -> Result<Dir, Errno> {
        Ok(Dir {
            meta: os::meta_of(handle.as_fd())?,
            handle,
            path,
            put_back: None,
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
        set_facts(self.as_fd(), of.permissions(), of)
            .map_err(|errno| TreeError::io(&self.path, errno))
    }

    /// Opens a directory beneath this one by plain names. `XDEV` means a mount, `LOOP` or `NOTDIR` a link or
    /// another kind.
    pub(super) fn child(&self, path: impl AsRef<Path>) -> Result<Dir, Errno> {
        let path = path.as_ref();
        Dir::of(
            os::open_in(self.as_fd(), path, DIRECTORY)?,
            self.path.join(path),
        )
    }

    /// Opens a directory in this one, after giving its owner the right to where it is missing. It gets its
    /// permissions back when it is closed.
    pub(super) fn child_unlocked(&self, name: &OsStr) -> Result<Dir, Errno> {
        match self.child(name) {
            Err(Errno::ACCESS) => {}
            // The right to read lets it open, but its entries cannot be reached without the right to search.
            Ok(mut dir) if dir.meta.permissions() & 0o500 != 0o500 && !geteuid().is_root() => {
                dir.put_back = dir.make_writable()?;
                return Ok(dir);
            }
            answer => return answer,
        }
        let before = os::set_mode_in(self.as_fd(), Path::new(name), |meta| {
            meta.is_dir().then_some(meta.permissions() | 0o700)
        })?;
        let mut dir = self.child(name)?;
        if let Some(before) = before {
            dir.meta.mode = before.mode;
            dir.put_back = Some(before.permissions());
        }
        Ok(dir)
    }

    /// Opens a directory in this one with all rights of its owner, for good.
    pub(super) fn child_writable(&self, name: &OsStr) -> Result<Dir, Errno> {
        let mut dir = self.child_unlocked(name)?;
        dir.put_back = None;
        dir.make_writable()?;
        Ok(dir)
    }

    /// Returns whether its permissions will be put back.
    pub(super) fn is_unlocked(&self) -> bool {
        self.put_back.is_some()
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

    /// Opens a regular file in this directory for reading, and returns its facts.
    pub(super) fn file(&self, name: &OsStr, unlock: bool) -> Result<(File, Meta), Errno> {
        let name = Path::new(name);
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
    pub(super) fn meta_in(&self, name: &OsStr) -> Result<Meta, Errno> {
        os::meta_in(self.as_fd(), Path::new(name))
    }

    /// Returns at most so many of the names in the directory, in no order, and whether there are no others.
    pub(super) fn list(&self, most: u64) -> Result<(Vec<Listed>, bool), TreeError> {
        let failed = |errno: Errno| TreeError::io(&self.path, errno);
        let mut names = Vec::new();
        let mut listing = rustix::fs::Dir::read_from(self).map_err(failed)?;
        while let Some(entry) = listing.read() {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if names.len() as u64 >= most {
                return Ok((names, false));
            }
            names.push(Listed {
                name: OsStr::from_bytes(name).to_owned(),
                inode: entry.ino(),
                kind: Kind::of(entry.file_type()),
            });
        }
        Ok((names, true))
    }

    /// Returns the error for an entry of this directory.
    pub(super) fn error(&self, path: impl AsRef<Path>, errno: Errno) -> TreeError {
        let path = self.path.join(path);
        match errno {
            Errno::XDEV => TreeError::MountPoint { path },
            Errno::LOOP => TreeError::Link { path },
            Errno::NAMETOOLONG => TreeError::too_large(What::PathLength, LONGEST_PATH),
            other => TreeError::io(path, other),
        }
    }
}

/// Single files and directories beneath a directory.
impl Dir {
    /// Opens a directory beneath this one.
    pub fn open_dir(&self, path: impl AsRef<Path>) -> Result<Dir, TreeError> {
        let path = plain(path.as_ref())?;
        self.child(path).map_err(|errno| self.error(path, errno))
    }

    /// Opens a directory beneath this one, after making it and those above where they are missing.
    pub fn create_dir_all(&self, path: impl AsRef<Path>, mode: u32) -> Result<Dir, TreeError> {
        let path = plain(path.as_ref())?;
        match self.open_dir(path) {
            Err(error) if error.is_not_found() => {}
            answer => return answer,
        }
        if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
            self.create_dir_all(parent, mode)?;
        }
        match self.create_dir(path, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.open_dir(path),
            answer => answer,
        }
    }

    /// Makes a directory that must not be there yet, in one that is, and opens it.
    pub fn create_dir(&self, path: impl AsRef<Path>, mode: u32) -> Result<Dir, TreeError> {
        self.with_parent(path.as_ref(), |parent, name| {
            mkdirat(parent, name, Mode::from_raw_mode(mode as RawMode))?;
            parent.child(name)
        })
    }

    /// Opens a regular file for reading. Neither a pipe nor a device makes it wait.
    pub fn open_file(&self, path: impl AsRef<Path>) -> Result<File, TreeError> {
        self.open_file_with(path.as_ref(), OFlags::RDONLY)
    }

    fn open_file_with(&self, path: &Path, flags: OFlags) -> Result<File, TreeError> {
        let path = plain(path)?;
        let opened = os::open_in(self.as_fd(), path, flags)
            .and_then(|handle| Ok((os::meta_of(handle.as_fd())?, handle)));
        match opened.map_err(|errno| self.error(path, errno))? {
            (meta, handle) if meta.is_file() => Ok(File::from(handle)),
            _ => Err(TreeError::NotAFile {
                path: self.path.join(path),
            }),
        }
    }

    /// Reads a regular file of at most so many bytes.
    pub fn read_file(&self, path: impl AsRef<Path>, most: u64) -> Result<Vec<u8>, TreeError> {
        let path = path.as_ref();
        let mut content = Vec::new();
        self.open_file_up_to(path, most)?
            .take(most.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|error| TreeError::io(self.path.join(path), error))?;
        if content.len() as u64 > most {
            return Err(self.too_long(path, most));
        }
        Ok(content)
    }

    /// Opens a regular file for reading, unless it is longer than so many bytes.
    pub fn open_file_up_to(&self, path: impl AsRef<Path>, most: u64) -> Result<File, TreeError> {
        let path = path.as_ref();
        let file = self.open_file(path)?;
        let length = file.metadata().map(|meta| meta.len());
        // Not even begun: a file of holes has any length for nothing.
        match length.map_err(|error| TreeError::io(self.path.join(path), error))? {
            length if length > most => Err(self.too_long(path, most)),
            _ => Ok(file),
        }
    }

    fn too_long(&self, path: &Path, limit: u64) -> TreeError {
        let path = self.path.join(path);
        TreeError::LongFile { path, limit }
    }

    /// Makes a file that must not be there yet, and opens it for reading and writing.
    pub fn create_file(&self, path: impl AsRef<Path>, mode: u32) -> Result<File, TreeError> {
        self.with_parent(path.as_ref(), |parent, name| {
            let flags =
                OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(parent, name, flags, Mode::from_raw_mode(mode as RawMode)).map(File::from)
        })
    }

    /// Opens a regular file for reading and for writing at its end, after making it where it is missing.
    pub fn append_to_file(&self, path: impl AsRef<Path>, mode: u32) -> Result<File, TreeError> {
        let path = path.as_ref();
        match self.create_file(path, mode) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.open_file_with(path, OFlags::RDWR | OFlags::APPEND),
        }
    }

    /// Gives an entry beneath this directory another place beneath it, in place of the file that is there.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), TreeError> {
        let to = to.as_ref();
        self.with_parent(from.as_ref(), |old, old_name| {
            Ok(self.with_parent(to, |new, new_name| renameat(old, old_name, new, new_name)))
        })?
    }

    /// Removes a file or link. A path where nothing is counts as removed.
    pub fn remove_file(&self, path: impl AsRef<Path>) -> Result<(), TreeError> {
        let removed = self.with_parent(path.as_ref(), |parent, name| {
            unlinkat(parent, name, AtFlags::empty())
        });
        found(removed).map(|_| ())
    }

    /// Returns the facts about an entry beneath this directory. None means that nothing is there.
    pub fn meta_at(&self, path: impl AsRef<Path>) -> Result<Option<Meta>, TreeError> {
        found(self.with_parent(path.as_ref(), Dir::meta_in))
    }

    /// Returns the text of a symbolic link.
    pub fn read_link(&self, path: impl AsRef<Path>) -> Result<PathBuf, TreeError> {
        let text = self.with_parent(path.as_ref(), |parent, name| {
            rustix::fs::readlinkat(parent, name, Vec::new())
        })?;
        Ok(OsString::from_vec(text.into_bytes()).into())
    }

    /// Makes a symbolic link with this text, where nothing is yet.
    pub fn create_link(
        &self,
        text: impl AsRef<Path>,
        path: impl AsRef<Path>,
    ) -> Result<(), TreeError> {
        self.with_parent(path.as_ref(), |parent, name| {
            rustix::fs::symlinkat(text.as_ref(), parent, name)
        })
    }

    /// Returns the names in this directory, sorted. More than `most` is an error.
    pub fn names(&self, most: u64) -> Result<Vec<OsString>, TreeError> {
        let (listed, is_complete) = self.list(most)?;
        if !is_complete {
            return Err(TreeError::too_large(What::Entries, most));
        }
        let mut names: Vec<OsString> = listed.into_iter().map(|listed| listed.name).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Does something with the last name of a path, in the directory that the other names lead to.
    pub(super) fn with_parent<T>(
        &self,
        path: &Path,
        act: impl FnOnce(&Dir, &OsStr) -> Result<T, Errno>,
    ) -> Result<T, TreeError> {
        let path = plain(path)?;
        let name = path.file_name().unwrap_or_default();
        let done = match path.parent() {
            Some(above) if above != Path::new("") => {
                self.child(above).and_then(|parent| act(&parent, name))
            }
            _ => act(self, name),
        };
        done.map_err(|errno| self.error(path, errno))
    }
}

/// Turns the error that something is not there into none.
fn found<T>(answer: Result<T, TreeError>) -> Result<Option<T>, TreeError> {
    match answer {
        Err(error) if error.is_not_found() => Ok(None),
        answer => answer.map(Some),
    }
}

/// Returns a path that has nothing but names.
fn plain(path: &Path) -> Result<&Path, TreeError> {
    let mut components = path.components().peekable();
    if components.peek().is_some() && components.all(|part| matches!(part, Component::Normal(_))) {
        return Ok(path);
    }
    let path = path.to_owned();
    Err(TreeError::NotBeneath { path })
}

pub(super) fn set_mode(file: BorrowedFd<'_>, permissions: u32) -> Result<(), Errno> {
    // The type is narrower on other systems.
    fchmod(file, Mode::from_raw_mode(permissions as RawMode))
}

/// Sets permissions, and then the time of another file.
pub(super) fn set_facts(file: BorrowedFd<'_>, permissions: u32, of: &Meta) -> Result<(), Errno> {
    set_mode(file, permissions)?;
    futimens(file, &times(of))
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
