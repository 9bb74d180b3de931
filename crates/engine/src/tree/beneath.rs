//! Opening, making and removing single files beneath a directory.
//!
//! Paths have only plain names. They are gone through one name at a time, so that nothing leads out of the
//! directory: no link, no `..`, no mount. A path may be longer than the kernel takes at once.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, RawMode, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::tree::dir::Dir;
use crate::tree::error::{TreeError, What};
use crate::tree::limits::Options;
use crate::tree::meta::Meta;
use crate::tree::os;
use crate::tree::remove::{Removed, remove_at};

impl Dir {
    /// Opens a directory beneath this one.
    pub fn open_dir(&self, path: impl AsRef<Path>) -> Result<Dir, TreeError> {
        self.descend(path.as_ref(), None)
    }

    /// Opens a directory beneath this one, after making it and those above where they are missing.
    pub fn create_dir_all(&self, path: impl AsRef<Path>, mode: u32) -> Result<Dir, TreeError> {
        self.descend(path.as_ref(), Some(mode))
    }

    /// Makes a directory that must not be there yet, in one that is, and opens it.
    pub fn create_dir(&self, path: impl AsRef<Path>, mode: u32) -> Result<Dir, TreeError> {
        self.with_parent(path.as_ref(), |parent, name| {
            mkdirat(parent, name, Mode::from_raw_mode(mode as RawMode))?;
            parent.child(name.as_bytes())
        })
        .map(|dir| dir.with_path(self.path().join(path)))
    }

    /// Opens a regular file for reading. Neither a pipe nor a device makes it wait.
    pub fn open_file(&self, path: impl AsRef<Path>) -> Result<File, TreeError> {
        let path = path.as_ref();
        let (file, meta) =
            self.with_parent(path, |parent, name| parent.file(name.as_bytes(), false))?;
        self.require_file(path, &meta)?;
        Ok(file)
    }

    /// Reads a regular file of at most so many bytes.
    pub fn read_file(&self, path: impl AsRef<Path>, most: u64) -> Result<Vec<u8>, TreeError> {
        let path = path.as_ref();
        let mut content = Vec::new();
        self.open_file_up_to(path, most)?
            .take(most.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|error| TreeError::io(self.path().join(path), error))?;
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
        match length.map_err(|error| TreeError::io(self.path().join(path), error))? {
            length if length > most => Err(self.too_long(path, most)),
            _ => Ok(file),
        }
    }

    fn too_long(&self, path: &Path, limit: u64) -> TreeError {
        TreeError::LongFile {
            path: self.path().join(path),
            limit,
        }
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
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        let (file, meta) = self.with_parent(path, |parent, name| {
            let flags = OFlags::RDWR | OFlags::APPEND;
            let handle = os::open_in(parent.as_fd(), name.as_bytes(), flags)?;
            let meta = os::meta_of(handle.as_fd())?;
            Ok((File::from(handle), meta))
        })?;
        self.require_file(path, &meta)?;
        Ok(file)
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
        match removed {
            Err(error) if error.is_not_found() => Ok(()),
            answer => answer,
        }
    }

    /// Removes a file or a tree. A path where nothing is counts as removed.
    pub fn remove_tree(
        &self,
        path: impl AsRef<Path>,
        options: &Options<'_>,
    ) -> Result<Removed, TreeError> {
        let removed = self.with_parent(path.as_ref(), |parent, name| {
            Ok(remove_at(parent, name, options))
        });
        match removed {
            Err(error) if error.is_not_found() => Ok(Removed::default()),
            answer => answer?,
        }
    }

    /// Returns the facts about an entry beneath this directory. None means that nothing is there.
    pub fn meta_at(&self, path: impl AsRef<Path>) -> Result<Option<Meta>, TreeError> {
        let found = self.with_parent(path.as_ref(), |parent, name| {
            parent.meta_in(name.as_bytes())
        });
        match found {
            Err(error) if error.is_not_found() => Ok(None),
            answer => answer.map(Some),
        }
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
        let mut names = self
            .names_up_to(most)
            .map_err(|error| TreeError::io(self.path(), error))?;
        if !names.is_complete {
            return Err(TreeError::TooLarge {
                what: What::Entries,
                limit: most,
            });
        }
        names.sort_by_name();
        let sorted = (0..names.len()).filter_map(|index| names.get(index));
        Ok(sorted
            .map(|(name, _)| OsStr::from_bytes(name).to_owned())
            .collect())
    }

    fn require_file(&self, path: &Path, meta: &Meta) -> Result<(), TreeError> {
        if meta.is_file() {
            return Ok(());
        }
        let path = self.path().join(path);
        Err(TreeError::NotAFile { path })
    }

    /// Goes down name by name; with a mode, makes what is missing.
    fn descend(&self, path: &Path, mode: Option<u32>) -> Result<Dir, TreeError> {
        let mut here: Option<Dir> = None;
        for name in plain_names(path)? {
            let dir = here.as_ref().unwrap_or(self);
            let opened = match (dir.child(name.as_bytes()), mode) {
                (Err(Errno::NOENT), Some(mode)) => {
                    match mkdirat(dir, name, Mode::from_raw_mode(mode as RawMode)) {
                        Ok(()) | Err(Errno::EXIST) => dir.child(name.as_bytes()),
                        Err(errno) => Err(errno),
                    }
                }
                (answer, _) => answer,
            };
            let opened = opened.map_err(|errno| self.refusal(path, dir, name, errno))?;
            here = Some(opened);
        }
        here.map(|dir| dir.with_path(self.path().join(path)))
            .ok_or_else(|| not_beneath(path))
    }

    /// Does something with the last name of a path, in the directory that the other names lead to.
    fn with_parent<T>(
        &self,
        path: &Path,
        act: impl FnOnce(&Dir, &OsStr) -> Result<T, Errno>,
    ) -> Result<T, TreeError> {
        let mut names = plain_names(path)?;
        let name = names.pop().ok_or_else(|| not_beneath(path))?;
        let opened;
        let parent = match path.parent() {
            Some(above) if !names.is_empty() => {
                opened = self.descend(above, None)?;
                &opened
            }
            _ => self,
        };
        act(parent, name).map_err(|errno| self.refusal(path, parent, name, errno))
    }

    fn refusal(&self, path: &Path, parent: &Dir, name: &OsStr, errno: Errno) -> TreeError {
        // A link where a directory is expected is "not a directory" to some calls.
        let errno = match errno {
            Errno::NOTDIR
                if parent
                    .meta_in(name.as_bytes())
                    .is_ok_and(|meta| meta.is_link()) =>
            {
                Errno::LOOP
            }
            other => other,
        };
        self.error(path, errno)
    }
}

fn not_beneath(path: &Path) -> TreeError {
    let path = path.to_owned();
    TreeError::NotBeneath { path }
}

/// Returns the names of a path that has nothing but names.
fn plain_names(path: &Path) -> Result<Vec<&OsStr>, TreeError> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name),
            _ => return Err(not_beneath(path)),
        }
    }
    if names.is_empty() {
        return Err(not_beneath(path));
    }
    Ok(names)
}
