//! Goes through a tree, one entry at a time. Everything that looks at trees or copies them is a loop over this.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::geteuid;

use crate::tree::dir::{Dir, Listed};
use crate::tree::error::{Notes, TreeError, What, mounted};
use crate::tree::limits::{Budget, Options};
use crate::tree::meta::{Kind, Meta};
use crate::tree::os;

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
    /// Something is mounted there, as far as a walk has found out.
    pub is_mount: bool,
    unlock: bool,
}

impl Entry<'_> {
    /// Opens a regular file for reading.
    pub fn open(&self) -> Result<File, TreeError> {
        match self.parent.file(self.name, self.unlock) {
            Ok((file, meta)) if meta.is_file() => Ok(file),
            Ok(_) => Err(TreeError::NotAFile {
                path: self.path.to_owned(),
            }),
            Err(errno) => Err(self.error(errno)),
        }
    }

    /// Returns the text of a symbolic link.
    pub fn read_link(&self) -> Result<PathBuf, TreeError> {
        self.parent.read_link(self.name)
    }

    /// Returns the facts about the entry. None is an entry that went away.
    pub(super) fn meta(&self) -> Result<Option<Meta>, TreeError> {
        self.parent.meta_at(self.name)
    }

    pub(super) fn error(&self, errno: Errno) -> TreeError {
        self.parent.error(self.name, errno)
    }
}

/// The directories from the root of a tree down to one in it. Few handles are open: those far down are opened
/// again from the root on the way back.
#[derive(Debug)]
pub(super) struct Descent<'a> {
    root: &'a Dir,
    below: Vec<(Option<Dir>, Meta)>,
}

impl<'a> Descent<'a> {
    /// So many levels keep their handles open, and so do directories that get their permissions back.
    const KEPT_OPEN: usize = 32;

    pub fn new(root: &'a Dir) -> Self {
        Descent {
            root,
            below: Vec::new(),
        }
    }

    /// Returns the present directory.
    pub fn here(&self) -> &Dir {
        let last = self.below.last().and_then(|(dir, _)| dir.as_ref());
        last.unwrap_or(self.root)
    }

    pub fn depth(&self) -> usize {
        self.below.len()
    }

    /// Goes down into a directory that was opened in the present one.
    pub fn enter(&mut self, dir: Dir) {
        if self.below.len() > Self::KEPT_OPEN
            && let Some((above, _)) = self.below.last_mut()
        {
            above.take_if(|dir| !dir.is_unlocked());
        }
        let meta = *dir.meta();
        self.below.push((Some(dir), meta));
    }

    /// Goes up into the directory that has this path below the root. Returns the one that was left.
    pub fn leave(&mut self, above: &Path) -> Result<Option<Dir>, TreeError> {
        let left = self.below.pop().and_then(|(dir, _)| dir);
        if let Some((dir @ None, meta)) = self.below.last_mut() {
            let found = match self.root.child(above) {
                Ok(found) if found.meta().identity() == meta.identity() => found,
                Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => {
                    let path = self.root.path().join(above);
                    return Err(TreeError::Moved { path });
                }
                Err(errno) => return Err(self.root.error(above, errno)),
            };
            *dir = Some(found);
        }
        Ok(left)
    }
}

/// A position in a tree. Entries come by name, and a directory before its content.
#[derive(Debug)]
pub(super) struct Walker<'a> {
    options: &'a Options<'a>,
    dirs: Descent<'a>,
    /// The names that are left in each directory on the way down.
    names: Vec<std::vec::IntoIter<Listed>>,
    /// The path from the root to the present entry or directory.
    path: PathBuf,
    /// The path is that of an entry, not that of the present directory.
    is_at_entry: bool,
    pub budget: Budget,
}

/// The answer to a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The walker is at the next entry, which has this kind.
    Entry(Kind),
    /// The directory has no more entries; `leave` is next.
    End,
    /// The whole tree was seen.
    Done,
}

impl<'a> Walker<'a> {
    pub fn new(root: &'a Dir, options: &'a Options<'a>) -> Result<Self, TreeError> {
        let mut walker = Walker {
            options,
            dirs: Descent::new(root),
            names: Vec::new(),
            path: PathBuf::new(),
            is_at_entry: false,
            budget: Budget::new(options.limits),
        };
        let names = walker.list(root)?;
        walker.names.push(names);
        Ok(walker)
    }

    fn list(&self, dir: &Dir) -> Result<std::vec::IntoIter<Listed>, TreeError> {
        let (mut names, is_complete) = dir.list(self.budget.entries_left())?;
        if !is_complete {
            let limit = self.options.limits.entries;
            return Err(TreeError::too_large(What::Entries, limit));
        }
        names.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(names.into_iter())
    }

    /// Goes to the next entry of the present directory.
    pub fn step(&mut self) -> Result<Step, TreeError> {
        loop {
            self.options.check_stop()?;
            if std::mem::take(&mut self.is_at_entry) {
                self.path.pop();
            }
            let Some(listed) = self.names.last_mut().and_then(Iterator::next) else {
                let is_root = self.dirs.depth() == 0;
                return Ok(if is_root { Step::Done } else { Step::End });
            };
            self.path.push(&listed.name);
            self.is_at_entry = true;
            self.budget.take_entry(&self.path)?;
            let kind = match listed.kind {
                Some(kind) => Some(kind),
                None => self.entry(Kind::File).meta()?.map(|meta| meta.kind),
            };
            if let Some(kind) = kind {
                return Ok(Step::Entry(kind));
            }
        }
    }

    /// Returns the directory that has the present entry.
    pub fn here(&self) -> &Dir {
        self.dirs.here()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn depth(&self) -> usize {
        self.dirs.depth()
    }

    /// Returns the present entry, of which the kind is known.
    pub fn entry(&self, kind: Kind) -> Entry<'_> {
        Entry {
            path: &self.path,
            name: self.path.file_name().unwrap_or_default(),
            kind,
            parent: self.here(),
            is_mount: false,
            unlock: self.options.unlock,
        }
    }

    /// Goes into the directory that is the present entry. Returns why not: `XDEV` is a mount, `NOENT` that nothing is
    /// there any more, another number that something else is.
    pub fn enter(&mut self) -> Result<Option<Errno>, TreeError> {
        let entry = self.entry(Kind::Dir);
        let opened = match entry.unlock {
            true => entry.parent.child_unlocked(entry.name),
            false => entry.parent.child(entry.name),
        };
        let dir = match opened {
            Ok(dir) => dir,
            Err(why @ (Errno::XDEV | Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) => {
                return Ok(Some(why));
            }
            Err(errno) => return Err(entry.error(errno)),
        };
        let names = self.list(&dir)?;
        self.names.push(names);
        self.dirs.enter(dir);
        self.is_at_entry = false;
        Ok(None)
    }

    /// Goes up. Returns the directory that was left, whose path is the present one.
    pub fn leave(&mut self) -> Result<Option<Dir>, TreeError> {
        self.names.pop();
        let above = self.path.parent().unwrap_or(Path::new(""));
        let left = self.dirs.leave(above)?;
        self.is_at_entry = true;
        Ok(left)
    }
}

/// A visitor's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// Goes on, into the entry if it is a directory.
    Continue,
    /// Goes on after the entry.
    Skip,
    /// Ends the walk.
    End,
}

/// Shows every entry of a tree to a visitor: a directory before its content, the entries of a directory by
/// name. Returns the mount points, which are shown but not entered.
pub fn walk(
    root: &Dir,
    options: &Options<'_>,
    visit: &mut dyn FnMut(&Entry<'_>, &Meta) -> Result<Visit, TreeError>,
) -> Result<Notes, TreeError> {
    let mut notes = Notes::default();
    let mut walker = Walker::new(root, options)?;
    loop {
        let kind = match walker.step()? {
            Step::Done => return Ok(notes),
            Step::End => {
                walker.leave()?;
                continue;
            }
            Step::Entry(kind) => kind,
        };
        let Some(meta) = walker.entry(kind).meta()? else {
            continue;
        };
        let is_mount = meta.is_mount_in(walker.here().meta());
        if is_mount {
            notes.add(walker.path(), mounted());
        } else if meta.is_file() {
            walker.budget.take_bytes(meta.counted())?;
        }
        let entry = Entry {
            is_mount,
            ..walker.entry(meta.kind)
        };
        match visit(&entry, &meta)? {
            Visit::End => return Ok(notes),
            Visit::Continue if meta.is_dir() && !is_mount => {
                if walker.enter()? == Some(Errno::XDEV) {
                    notes.add(walker.path(), mounted());
                }
            }
            Visit::Continue | Visit::Skip => {}
        }
    }
}

/// Returns every entry that is neither a directory nor a mount point, with its path from the root.
pub fn list(root: &Dir, options: &Options<'_>) -> Result<Vec<(PathBuf, Meta)>, TreeError> {
    let mut found = Vec::new();
    walk(root, options, &mut |entry, meta| {
        if !meta.is_dir() && !entry.is_mount {
            found.push((entry.path.to_owned(), *meta));
        }
        Ok(Visit::Continue)
    })?;
    Ok(found)
}

/// Returns the bytes that the files of a tree really take, mounts left out. A file with several names counts once for
/// each. A tree beyond the limits is [`TreeError::TooLarge`].
pub fn measure(root: &Dir, options: &Options<'_>) -> Result<u64, TreeError> {
    let mut bytes: u64 = 0;
    walk(root, options, &mut |entry, meta| {
        if meta.is_file() && !entry.is_mount {
            bytes = bytes.saturating_add(meta.allocated);
        }
        Ok(Visit::Continue)
    })?;
    Ok(bytes)
}

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
        if is_locked && !entry.is_mount {
            os::set_mode_in(entry.parent.as_fd(), Path::new(entry.name), |found| {
                (found.kind == meta.kind).then_some(found.permissions() | needed)
            })
            .map_err(|errno| entry.error(errno))?;
        }
        Ok(Visit::Continue)
    })
    .map(|_| ())
}
