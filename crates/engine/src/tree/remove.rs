//! Removing a tree.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, OFlags, unlinkat};
use rustix::io::Errno;

use crate::tree::cursor::{Cursor, Entering, Order, Step};
use crate::tree::dir::Dir;
use crate::tree::error::TreeError;
use crate::tree::limits::{Limits, Options};
use crate::tree::meta::Kind;
use crate::tree::notes::{Notes, Why};
use crate::tree::os;

/// The result of a removal.
#[must_use]
#[derive(Debug, Default)]
pub struct Removed {
    /// Entries that are gone.
    pub entries: u64,
    /// Entries that could not be removed: mount points, and what the system refused. The directories above them
    /// are left, too, without being listed.
    pub left: Notes,
}

/// So often a tree is looked through again when somebody changes it meanwhile.
const PASSES: usize = 16;

/// Removes a file or a tree. A path where nothing is counts as removed.
///
/// Links are removed, never followed. Directories without permissions and files marked as immutable are no
/// obstacle for who may change that. A mount is left alone, with what is in it.
pub fn remove(path: impl AsRef<Path>, options: &Options<'_>) -> Result<Removed, TreeError> {
    let path = path.as_ref();
    let Some(name) = path.file_name() else {
        let path = path.to_owned();
        return Err(TreeError::NotBeneath { path });
    };
    let above = match path.parent() {
        Some(above) if !above.as_os_str().is_empty() => above,
        _ => Path::new("."),
    };
    match Dir::open_parent(above) {
        Err(error) if error.is_not_found() => Ok(Removed::default()),
        Err(error) => Err(error),
        Ok(parent) => remove_at(&parent, name, options),
    }
}

/// Removes an entry of a directory, with everything in it.
pub fn remove_at(parent: &Dir, name: &OsStr, options: &Options<'_>) -> Result<Removed, TreeError> {
    let mut removed = Removed::default();
    for _ in 0..PASSES {
        let outcome = match unlink(parent, name.as_bytes(), None) {
            Outcome::IsDir => {
                remove_dir(parent, name, options, &mut removed)?;
                if !removed.left.is_empty() {
                    return Ok(removed);
                }
                remove_empty(parent, name.as_bytes())
            }
            other => other,
        };
        match outcome {
            Outcome::Gone => {
                removed.entries += 1;
                return Ok(removed);
            }
            Outcome::NeverThere => return Ok(removed),
            Outcome::Left(why) => {
                removed.left.add(Path::new(""), why);
                return Ok(removed);
            }
            // Somebody put something into it, or something else in its place.
            Outcome::IsDir | Outcome::NotEmpty => {}
        }
    }
    let busy = Why::Failed(Errno::NOTEMPTY.into());
    removed.left.add(Path::new(""), busy);
    Ok(removed)
}

fn remove_dir(
    parent: &Dir,
    name: &OsStr,
    options: &Options<'_>,
    removed: &mut Removed,
) -> Result<(), TreeError> {
    match parent.child_unlocked(name.as_bytes()) {
        Ok((dir, _)) => {
            let path: PathBuf = parent.path().join(name);
            remove_all_in(&dir.with_path(path), options, removed)
        }
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
        Err(Errno::XDEV) => {
            removed.left.add(Path::new(""), Why::MountPoint);
            Ok(())
        }
        Err(errno) => {
            let why = Why::Failed(errno.into());
            removed.left.add(Path::new(""), why);
            Ok(())
        }
    }
}

/// Removes everything in a directory, but not the directory.
pub fn remove_contents(dir: &Dir, options: &Options<'_>) -> Result<Removed, TreeError> {
    let mut removed = Removed::default();
    remove_all_in(dir, options, &mut removed)?;
    Ok(removed)
}

fn remove_all_in(dir: &Dir, options: &Options<'_>, removed: &mut Removed) -> Result<(), TreeError> {
    // How large it is does not matter here: it is to go.
    let options = Options {
        limits: Limits::NONE,
        unlock: true,
        ..*options
    };
    let mut passes = 0;
    loop {
        removed.left = Notes::default();
        match remove_once(dir, &options, removed) {
            Err(TreeError::Moved { .. }) if passes < PASSES => passes += 1,
            done => return done,
        }
    }
}

fn remove_once(dir: &Dir, options: &Options<'_>, removed: &mut Removed) -> Result<(), TreeError> {
    // The entries tell soon enough if that was refused.
    let _ = dir.make_writable();
    let mut cursor = Cursor::new(dir, options, Order::AnyInParts)?;
    // How many entries were left and removed above each directory on the way down, and below.
    let mut before = Vec::new();
    let mut before_part = removed.entries;
    loop {
        match cursor.step()? {
            Step::Entry => {
                if remove_entry(&mut cursor, removed)? == Entering::Entered {
                    before.push((removed.left.total, before_part));
                    before_part = removed.entries;
                }
            }
            Step::Done | Step::End
                if !cursor.is_listed_completely() && removed.entries > before_part =>
            {
                before_part = removed.entries;
                cursor.list_again()?;
            }
            Step::Done => return Ok(()),
            Step::End => {
                cursor.leave()?;
                let left_before = before.pop().map_or(0, |(left, part)| {
                    before_part = part;
                    left
                });
                if removed.left.total == left_before {
                    finish(&mut cursor, removed)?;
                }
            }
        }
    }
}

/// Removes the present entry, or goes into it.
fn remove_entry(cursor: &mut Cursor<'_>, removed: &mut Removed) -> Result<Entering, TreeError> {
    let kind = cursor.kind()?;
    if kind != Some(Kind::Dir) {
        match unlink(cursor.here(), cursor.name(), kind) {
            Outcome::Gone => removed.entries += 1,
            Outcome::NeverThere => {}
            Outcome::Left(why) => removed.left.add(cursor.path(), why),
            Outcome::IsDir | Outcome::NotEmpty => return enter(cursor, removed),
        }
        return Ok(Entering::Gone);
    }
    // Many are empty, and need not be looked into.
    if unlinkat(cursor.here(), cursor.name(), AtFlags::REMOVEDIR).is_ok() {
        removed.entries += 1;
        return Ok(Entering::Gone);
    }
    enter(cursor, removed)
}

fn enter(cursor: &mut Cursor<'_>, removed: &mut Removed) -> Result<Entering, TreeError> {
    match cursor.enter() {
        Ok(Entering::Entered) => {
            let _ = cursor.here().make_writable();
            return Ok(Entering::Entered);
        }
        Ok(Entering::Mount) => removed.left.add(cursor.path(), Why::MountPoint),
        Ok(Entering::Gone) => {}
        // A link took its place.
        Ok(Entering::NoDir) => match unlink(cursor.here(), cursor.name(), None) {
            Outcome::Gone => removed.entries += 1,
            Outcome::NeverThere => {}
            Outcome::Left(why) => removed.left.add(cursor.path(), why),
            Outcome::IsDir | Outcome::NotEmpty => {
                let busy = Why::Failed(Errno::NOTEMPTY.into());
                removed.left.add(cursor.path(), busy);
            }
        },
        Err(TreeError::Io { source, .. }) => {
            removed.left.add(cursor.path(), Why::Failed(source));
        }
        Err(other) => return Err(other),
    }
    Ok(Entering::Gone)
}

/// Removes the directory that was just left and should be empty.
fn finish(cursor: &mut Cursor<'_>, removed: &mut Removed) -> Result<(), TreeError> {
    match remove_empty(cursor.here(), cursor.name()) {
        Outcome::Gone => removed.entries += 1,
        Outcome::NeverThere => {}
        Outcome::Left(why) => removed.left.add(cursor.path(), why),
        // Somebody is still at work in it: the whole tree is looked through again.
        Outcome::NotEmpty | Outcome::IsDir => {
            return Err(TreeError::Moved {
                path: cursor.path().to_owned(),
            });
        }
    }
    Ok(())
}

enum Outcome {
    Gone,
    NeverThere,
    IsDir,
    NotEmpty,
    Left(Why),
}

fn unlink(dir: &Dir, name: &[u8], kind: Option<Kind>) -> Outcome {
    let answer = match unlinkat(dir, name, AtFlags::empty()) {
        Err(Errno::PERM) if unmark(dir, name, kind) => unlinkat(dir, name, AtFlags::empty()),
        answer => answer,
    };
    match answer {
        // Some systems answer so for a directory.
        Err(Errno::PERM) if dir.meta_in(name).is_ok_and(|meta| meta.is_dir()) => Outcome::IsDir,
        answer => outcome(answer),
    }
}

fn remove_empty(dir: &Dir, name: &[u8]) -> Outcome {
    let answer = match unlinkat(dir, name, AtFlags::REMOVEDIR) {
        Err(Errno::PERM) if unmark(dir, name, Some(Kind::Dir)) => {
            unlinkat(dir, name, AtFlags::REMOVEDIR)
        }
        answer => answer,
    };
    match answer {
        Err(Errno::NOTDIR) => Outcome::NotEmpty,
        answer => outcome(answer),
    }
}

fn outcome(answer: Result<(), Errno>) -> Outcome {
    match answer {
        Ok(()) => Outcome::Gone,
        Err(Errno::NOENT) => Outcome::NeverThere,
        Err(Errno::ISDIR) => Outcome::IsDir,
        Err(Errno::NOTEMPTY | Errno::EXIST) => Outcome::NotEmpty,
        Err(Errno::BUSY) => Outcome::Left(Why::MountPoint),
        Err(errno) => Outcome::Left(Why::Failed(errno.into())),
    }
}

/// Takes the marks away that forbid removing an entry, from it and from its directory.
fn unmark(dir: &Dir, name: &[u8], kind: Option<Kind>) -> bool {
    let kind = kind.or_else(|| dir.meta_in(name).ok().map(|meta| meta.kind));
    let was_marked = os::clear_marks(dir.as_fd());
    // Only these have marks, and opening a device may have effects.
    let flags = match kind {
        Some(Kind::File) => OFlags::RDONLY,
        Some(Kind::Dir) => OFlags::RDONLY | OFlags::DIRECTORY,
        _ => return was_marked,
    };
    let opened = os::open_in(dir.as_fd(), name, flags);
    opened.is_ok_and(|file| os::clear_marks(file.as_fd())) || was_marked
}
