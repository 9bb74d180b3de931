//! Removing a tree.
//!
//! A tree of any depth and size goes, so this is no walk: directories that are far down are moved to the top first, and
//! a large directory is listed in parts.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, OFlags, renameat, unlinkat};
use rustix::io::Errno;

use crate::tree::dir::Dir;
use crate::tree::error::{Notes, TreeError, mounted};
use crate::tree::limits::Options;
use crate::tree::meta::Kind;
use crate::tree::os;

/// The most names of a directory that are held at once.
const PART: u64 = 10_000;
/// A directory so many levels down is moved to the top.
const DEEPEST: usize = 64;
/// So often a directory is looked through again when somebody changes it meanwhile.
const PASSES: usize = 16;

/// Removes a file or a tree. A path where nothing is counts as removed.
///
/// Links are removed, never followed. Directories without permissions and files marked as immutable are no
/// obstacle for who may change that. A mount is left alone, with what is in it.
///
/// Returns the entries that could not be removed: mount points, and what the system refused. The directories above them
/// are left, too, without being listed.
pub fn remove(path: impl AsRef<Path>, options: &Options<'_>) -> Result<Notes, TreeError> {
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
        Err(error) if error.is_not_found() => Ok(Notes::default()),
        Err(error) => Err(error),
        Ok(parent) => remove_at(&parent, name, options),
    }
}

/// Removes an entry of a directory, with everything in it.
pub fn remove_at(parent: &Dir, name: &OsStr, options: &Options<'_>) -> Result<Notes, TreeError> {
    let mut removal = Removal {
        options,
        left: Notes::default(),
        moved: 0,
    };
    let place = RemovedEntry {
        parent,
        name,
        path: Path::new(""),
        depth: 0,
    };
    removal.remove_entry(&place, None, None)?;
    Ok(removal.left)
}

impl Dir {
    /// Removes a file or a tree beneath this directory, as [`remove`] does.
    pub fn remove_tree(
        &self,
        path: impl AsRef<Path>,
        options: &Options<'_>,
    ) -> Result<Notes, TreeError> {
        let removed = self.with_parent(path.as_ref(), |parent, name| {
            Ok(remove_at(parent, name, options))
        });
        match removed {
            Err(error) if error.is_not_found() => Ok(Notes::default()),
            answer => answer?,
        }
    }
}

/// Removes everything in a directory, but not the directory itself.
pub fn remove_contents(dir: &Dir, options: &Options<'_>) -> Result<(), TreeError> {
    // The entries tell soon enough if that was refused.
    let _ = dir.make_writable();
    for name in dir.names(u64::MAX)? {
        remove_at(dir, &name, options)?.into_result(&dir.path().join(&name))?;
    }
    Ok(())
}

/// The place of an entry that is to be removed.
struct RemovedEntry<'a> {
    parent: &'a Dir,
    name: &'a OsStr,
    /// The path from the root of the removal.
    path: &'a Path,
    /// The number of directories of the removal above it.
    depth: usize,
}

struct Removal<'a> {
    options: &'a Options<'a>,
    left: Notes,
    /// The number of directories that were moved to the top.
    moved: u64,
}

impl Removal<'_> {
    /// Removes what there is in a directory. Returns whether it saw all of it, and moved nothing to the top.
    fn empty(
        &mut self,
        dir: &Dir,
        top: &Dir,
        path: &Path,
        depth: usize,
    ) -> Result<bool, TreeError> {
        let moved = self.moved;
        let (mut names, is_complete) = dir.list(PART)?;
        // The order in which most file systems have them on the disk.
        names.sort_unstable_by_key(|listed| listed.inode);
        for listed in names {
            self.options.check_stop()?;
            let place = RemovedEntry {
                parent: dir,
                name: &listed.name,
                path: &path.join(&listed.name),
                depth: depth + 1,
            };
            self.remove_entry(&place, listed.kind, Some(top))?;
        }
        Ok(is_complete && self.moved == moved)
    }

    fn remove_entry(
        &mut self,
        place: &RemovedEntry<'_>,
        kind: Option<Kind>,
        top: Option<&Dir>,
    ) -> Result<(), TreeError> {
        if kind != Some(Kind::Dir) {
            match unlink(place, kind, AtFlags::empty()) {
                Err(Errno::ISDIR) => {}
                answer => {
                    self.note(place, answer);
                    return Ok(());
                }
            }
        }
        let mut passes = 0;
        while passes < PASSES {
            // Many directories are empty, and need not be looked into.
            match unlink(place, Some(Kind::Dir), AtFlags::REMOVEDIR) {
                Err(Errno::NOTEMPTY | Errno::EXIST) => {}
                // A link or a file took its place.
                Err(Errno::NOTDIR) => {
                    self.note(place, unlink(place, None, AtFlags::empty()));
                    return Ok(());
                }
                answer => {
                    self.note(place, answer);
                    return Ok(());
                }
            }
            let dir = match place.parent.child_writable(place.name) {
                // Something else took its place, or nothing.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                    passes += 1;
                    continue;
                }
                Err(errno) => {
                    self.note(place, Err(errno));
                    return Ok(());
                }
                Ok(dir) => dir,
            };
            if let Some(top) = top.filter(|_| place.depth >= DEEPEST) {
                self.move_to(top, place);
                return Ok(());
            }
            let left = self.left.total;
            let is_all = self.empty(&dir, top.unwrap_or(&dir), place.path, place.depth)?;
            passes += usize::from(is_all);
            if is_all && self.left.total > left {
                return Ok(());
            }
        }
        // Somebody keeps putting something into it.
        self.note(place, Err(Errno::NOTEMPTY));
        Ok(())
    }

    fn move_to(&mut self, top: &Dir, place: &RemovedEntry<'_>) {
        let free = format!(".{:016x}", fastrand::u64(..));
        match renameat(place.parent, place.name, top, free.as_str()) {
            Ok(()) => self.moved += 1,
            Err(errno) => self.note(place, Err(errno)),
        }
    }

    fn note(&mut self, place: &RemovedEntry<'_>, answer: Result<(), Errno>) {
        let why = match answer {
            Ok(()) | Err(Errno::NOENT) => return,
            Err(Errno::XDEV | Errno::BUSY) => mounted(),
            Err(errno) => errno.into(),
        };
        self.left.add(place.path, why);
    }
}

fn unlink(place: &RemovedEntry<'_>, kind: Option<Kind>, flags: AtFlags) -> Result<(), Errno> {
    let RemovedEntry { parent, name, .. } = *place;
    let answer = match unlinkat(parent, name, flags) {
        Err(Errno::PERM) if unmark(parent, name, kind) => unlinkat(parent, name, flags),
        answer => answer,
    };
    match answer {
        // Some systems answer so for a directory.
        Err(Errno::PERM)
            if flags.is_empty() && parent.meta_in(name).is_ok_and(|meta| meta.is_dir()) =>
        {
            Err(Errno::ISDIR)
        }
        answer => answer,
    }
}

/// Takes the marks away that forbid removing an entry, from it and from its directory.
fn unmark(dir: &Dir, name: &OsStr, kind: Option<Kind>) -> bool {
    let kind = kind.or_else(|| dir.meta_in(name).ok().map(|meta| meta.kind));
    let was_marked = os::clear_marks(dir.as_fd());
    // Only these have marks, and opening a device may have effects.
    let flags = match kind {
        Some(Kind::File) => OFlags::RDONLY,
        Some(Kind::Dir) => OFlags::RDONLY | OFlags::DIRECTORY,
        _ => return was_marked,
    };
    let opened = os::open_in(dir.as_fd(), Path::new(name), flags);
    opened.is_ok_and(|file| os::clear_marks(file.as_fd())) || was_marked
}
