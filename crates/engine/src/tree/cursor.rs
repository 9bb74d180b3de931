//! Goes over the entries of a tree, one at a time.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::tree::dir::{Dir, as_path, set_mode};
use crate::tree::error::TreeError;
use crate::tree::limits::{Budget, Options};
use crate::tree::meta::{Kind, Meta};
use crate::tree::names::Names;
use crate::tree::trail::{Lost, Trail};

/// An entry of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The path from the root of the tree.
    pub path: &'a Path,
    /// The last part of the path.
    pub name: &'a OsStr,
    /// The kind of the entry.
    pub kind: Kind,
    /// The directory that has the entry.
    pub parent: &'a Dir,
    pub(super) unlock: bool,
}

impl Entry<'_> {
    /// Opens a regular file for reading.
    pub fn open(&self) -> Result<File, TreeError> {
        let opened = self.parent.file(self.name.as_bytes(), self.unlock);
        let (file, meta) = opened.map_err(|errno| self.parent.error(self.path, errno))?;
        if !meta.is_file() {
            let path = self.path.to_owned();
            return Err(TreeError::NotAFile { path });
        }
        Ok(file)
    }

    /// Returns whether a directory has an attribute with this value.
    pub fn has_attribute(&self, name: &str, value: &[u8]) -> Result<bool, TreeError> {
        let failed = |errno| self.parent.error(self.path, errno);
        let (dir, before) = match self.unlock {
            true => self.parent.child_unlocked(self.name.as_bytes()),
            false => self
                .parent
                .child(self.name.as_bytes())
                .map(|dir| (dir, None)),
        }
        .map_err(failed)?;
        let mut found = vec![0; value.len() + 1];
        let read = rustix::fs::fgetxattr(&dir, name, &mut found[..]);
        if let Some(before) = before {
            set_mode(dir.as_fd(), before).map_err(failed)?;
        }
        match read {
            Ok(length) => Ok(&found[..length] == value),
            // It has no such attribute, or a longer one, or the file system has none at all.
            Err(Errno::NODATA | Errno::RANGE | Errno::OPNOTSUPP) => Ok(false),
            Err(errno) => Err(failed(errno)),
        }
    }

    /// Returns the text of a symbolic link.
    pub fn read_link(&self) -> Result<PathBuf, TreeError> {
        let text = rustix::fs::readlinkat(self.parent, self.name, Vec::new())
            .map_err(|errno| TreeError::io(self.path, errno))?;
        Ok(std::ffi::OsString::from_vec(text.into_bytes()).into())
    }
}

/// A position in a tree.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    root: &'a Dir,
    options: &'a Options<'a>,
    trail: Trail<'a>,
    frames: Vec<Frame>,
    /// The path from the root to the present entry.
    path: Vec<u8>,
    order: Order,
    /// The directories whose permissions wait to be put back.
    locked: usize,
    pub budget: Budget,
}

/// The order of the entries in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// By name. A directory is listed as a whole.
    ByName,
    /// The order that is quickest to remove. A large directory is listed in parts.
    AnyInParts,
}

impl Order {
    const PART: u64 = 10_000;
}

/// A directory on the way down.
#[derive(Debug)]
struct Frame {
    names: Names,
    next: usize,
    /// The length of the directory's own path, with a slash at its end.
    base: usize,
    /// The facts about the directory, with the permissions it had at first.
    meta: Meta,
    put_back: Option<u32>,
}

/// The answer to a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The cursor is at the next entry.
    Entry,
    /// The directory has no more entries; `leave` is next.
    End,
    /// The whole tree was seen.
    Done,
}

/// The answer to entering a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entering {
    Entered,
    /// Something is mounted there.
    Mount,
    /// It is not there any more.
    Gone,
    /// It is no directory (any more).
    NoDir,
}

impl<'a> Cursor<'a> {
    pub fn new(root: &'a Dir, options: &'a Options<'a>, order: Order) -> Result<Self, TreeError> {
        let mut cursor = Cursor {
            root,
            options,
            trail: Trail::new(root),
            frames: Vec::new(),
            path: Vec::new(),
            order,
            locked: 0,
            budget: Budget::new(options.limits),
        };
        let names = cursor.list(root)?;
        cursor.frames.push(Frame {
            names,
            next: 0,
            base: 0,
            meta: *root.meta(),
            put_back: None,
        });
        Ok(cursor)
    }

    fn list(&self, dir: &Dir) -> Result<Names, TreeError> {
        let most = match self.order {
            Order::ByName => self.budget.entries_left(),
            Order::AnyInParts => Order::PART,
        };
        let mut names = dir.names_up_to(most).map_err(|error| self.fails(error))?;
        match self.order {
            Order::ByName if !names.is_complete => return Err(self.budget.too_many_entries()),
            Order::ByName => names.sort_by_name(),
            Order::AnyInParts => names.sort_by_inode(),
        }
        Ok(names)
    }

    /// Goes to the next entry of the present directory.
    pub fn step(&mut self) -> Result<Step, TreeError> {
        self.options.check_stop()?;
        let Some(frame) = self.frames.last_mut() else {
            return Ok(Step::Done);
        };
        self.path.truncate(frame.base);
        let Some((name, _)) = frame.names.get(frame.next) else {
            return Ok(if self.frames.len() == 1 {
                Step::Done
            } else {
                Step::End
            });
        };
        self.path.extend_from_slice(name);
        frame.next += 1;
        self.budget.take_entry()?;
        Ok(Step::Entry)
    }

    /// Returns true when the present directory was listed to its end.
    pub fn is_listed_completely(&self) -> bool {
        self.frames
            .last()
            .is_none_or(|frame| frame.names.is_complete)
    }

    /// Lists the present directory again from its start.
    pub fn list_again(&mut self) -> Result<(), TreeError> {
        let names = self.list(self.trail.here())?;
        if let Some(frame) = self.frames.last_mut() {
            frame.names = names;
            frame.next = 0;
        }
        Ok(())
    }

    /// Returns the directory that has the present entry.
    pub fn here(&self) -> &Dir {
        self.trail.here()
    }

    /// Returns the facts about the present directory, with the permissions it had at first.
    pub fn meta_of_here(&self) -> Meta {
        self.frames
            .last()
            .map_or(*self.root.meta(), |frame| frame.meta)
    }

    pub fn name(&self) -> &[u8] {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        self.path.get(base..).unwrap_or_default()
    }

    pub fn path(&self) -> &Path {
        as_path(&self.path)
    }

    pub fn depth(&self) -> usize {
        self.trail.depth()
    }

    /// Returns the kind that the listing told, or asks. None is an entry that went away.
    pub fn kind(&self) -> Result<Option<Kind>, TreeError> {
        let told = self.frames.last().and_then(|frame| {
            let index = frame.next.checked_sub(1)?;
            frame.names.get(index)?.1
        });
        match told {
            Some(kind) => Ok(Some(kind)),
            None => Ok(self.meta()?.map(|meta| meta.kind)),
        }
    }

    /// Returns the facts about the present entry. None is an entry that went away.
    pub fn meta(&self) -> Result<Option<Meta>, TreeError> {
        match self.here().meta_in(self.name()) {
            Err(Errno::NOENT) => Ok(None),
            answer => answer.map(Some).map_err(|errno| self.fails(errno)),
        }
    }

    pub fn entry(&self, kind: Kind) -> Entry<'_> {
        Entry {
            path: self.path(),
            name: OsStr::from_bytes(self.name()),
            kind,
            parent: self.here(),
            unlock: self.options.unlock,
        }
    }

    /// Goes into the directory that is the present entry.
    pub fn enter(&mut self) -> Result<Entering, TreeError> {
        self.budget.check_depth(self.depth() + 1)?;
        let opened = if self.options.unlock {
            self.here().child_unlocked(self.name())
        } else {
            self.here().child(self.name()).map(|dir| (dir, None))
        };
        let (dir, put_back) = match opened {
            Ok(opened) => opened,
            Err(Errno::XDEV) => return Ok(Entering::Mount),
            Err(Errno::NOENT) => return Ok(Entering::Gone),
            Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Entering::NoDir),
            Err(errno) => return Err(self.fails(errno)),
        };
        let mut meta = *dir.meta();
        if let Some(permissions) = put_back {
            meta.mode = meta.mode & !0o7777 | permissions;
        }
        let names = match self.list(&dir) {
            Ok(names) => names,
            Err(error) => {
                if let Some(permissions) = put_back {
                    let _ = set_mode(dir.as_fd(), permissions);
                }
                return Err(error);
            }
        };
        self.locked += usize::from(put_back.is_some());
        self.path.push(b'/');
        self.trail.enter(dir);
        self.frames.push(Frame {
            names,
            next: 0,
            base: self.path.len(),
            meta,
            put_back,
        });
        Ok(Entering::Entered)
    }

    /// Goes up; the directory that was left is the present entry again.
    pub fn leave(&mut self) -> Result<(), TreeError> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        self.path.truncate(frame.base.saturating_sub(1));
        let (left, found) = self.trail.leave();
        // Not before: the way up needs the right to search.
        if let Some(permissions) = frame.put_back {
            self.locked -= 1;
            if let Some(dir) = left {
                set_mode(dir.as_fd(), permissions).map_err(|errno| self.fails(errno))?;
            }
        }
        found.map_err(|lost| match lost {
            Lost::Moved => TreeError::Moved {
                path: self.full_path(),
            },
            Lost::Refused(errno) => self.fails(errno),
        })
    }

    fn full_path(&self) -> PathBuf {
        self.root.path().join(self.path())
    }

    /// Returns the error for the present entry.
    pub fn fails(&self, error: impl Into<std::io::Error>) -> TreeError {
        TreeError::io(self.full_path(), error)
    }
}

impl Drop for Cursor<'_> {
    /// Puts permissions back when an operation ended early.
    fn drop(&mut self) {
        while self.locked > 0 && self.leave().is_ok() {}
    }
}
