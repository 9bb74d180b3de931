//! Copying a tree into another.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, symlinkat, utimensat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::tree::content::{ContentError, Copier};
use crate::tree::cursor::{Cursor, Entering, Entry, Order, Step};
use crate::tree::dir::{Dir, as_path, set_mode, set_time, times};
use crate::tree::error::TreeError;
use crate::tree::limits::{Budget, Limits, Options};
use crate::tree::meta::{Kind, Meta};
use crate::tree::notes::{Notes, Why};
use crate::tree::os;
use crate::tree::remove::remove_at;
use crate::tree::trail::{Lost, Trail};

/// The result of a copy.
#[derive(Debug, Default)]
pub struct Copied {
    /// Entries that were looked at.
    pub entries: u64,
    /// Bytes of data that were copied or shared.
    pub bytes: u64,
    /// Sockets, devices and mount points, which have no copy. A mounted directory is an empty one.
    pub skipped: Notes,
}

/// Copies the content of a directory into another, entry by entry.
///
/// Keeps permissions, times, links as they are written, named pipes, empty directories, holes, and the extended
/// attributes that users give. An entry that is there
/// already is replaced; two directories are joined. A file with several names becomes several files. The right
/// to act as the owner goes with the owner: a copy of somebody else's file does not have it.
///
/// `choose` sees every entry before it is copied, and says if it is.
pub fn copy(
    from: &Dir,
    to: &Dir,
    options: &Options<'_>,
    choose: &mut dyn FnMut(&Entry<'_>) -> Result<bool, TreeError>,
) -> Result<Copied, TreeError> {
    transfer(from, to, options, &mut |entry| {
        let is_chosen = choose(entry)?;
        Ok(if is_chosen {
            Choice::Copy
        } else {
            Choice::Leave
        })
    })
}

/// The answer to the question what happens to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It stays where it is, with everything in it.
    Leave,
    /// It is copied. If it is a directory, each entry in it is asked about.
    Copy,
    /// It is moved, with everything in it. Where it cannot be, it is copied.
    Move,
}

/// Copies or moves the content of a directory into another, entry by entry, as [`copy`] does. The directories that
/// entries were moved out of keep their facts in the copy.
pub fn transfer(
    from: &Dir,
    to: &Dir,
    options: &Options<'_>,
    choose: &mut dyn FnMut(&Entry<'_>) -> Result<Choice, TreeError>,
) -> Result<Copied, TreeError> {
    if from.meta().identity() == to.meta().identity() {
        let path = from.path().to_owned();
        return Err(TreeError::Overlap { path });
    }
    let mut copying = Copying {
        cursor: Cursor::new(from, options, Order::ByName)?,
        target: Trail::new(to),
        from,
        to,
        options,
        copier: Copier::new(),
        user: geteuid().as_raw(),
        skipped: Notes::default(),
    };
    // The depth in a directory that could not be moved: everything in it goes with it.
    let mut whole: Option<usize> = None;
    loop {
        match copying.cursor.step()? {
            Step::Done => break,
            Step::End => {
                copying.leave()?;
                let depth = copying.cursor.depth();
                whole = whole.filter(|from| depth >= *from);
            }
            Step::Entry => {
                let Some(kind) = copying.cursor.kind()? else {
                    continue;
                };
                let choice = match whole {
                    Some(_) => Choice::Move,
                    None => choose(&copying.cursor.entry(kind))?,
                };
                match choice {
                    Choice::Leave => {}
                    Choice::Move if copying.is_moved() => {}
                    Choice::Copy => copying.copy_entry(kind)?,
                    Choice::Move => {
                        let depth = copying.cursor.depth();
                        copying.copy_entry(kind)?;
                        let has_entered = copying.cursor.depth() > depth;
                        whole = whole.or(has_entered.then_some(depth + 1));
                    }
                }
            }
        }
    }
    Ok(Copied {
        entries: copying.cursor.budget.entries,
        bytes: copying.cursor.budget.bytes,
        skipped: copying.skipped,
    })
}

/// Copies the content of an open file into a directory, in the place of what has the name there. Keeps its
/// permissions and time. Returns the bytes of data that were copied or shared.
pub fn copy_file(
    from: &File,
    to: &Dir,
    name: &OsStr,
    options: &Options<'_>,
) -> Result<u64, TreeError> {
    let refused = |errno: Errno| to.error(name, errno);
    let meta = os::meta_of(from.as_fd()).map_err(refused)?;
    let mut budget = Budget::new(options.limits);
    let target = make_file(to, name.as_bytes(), options).map_err(|refusal| match refusal {
        Refusal::System(errno) => refused(errno),
        Refusal::Own(error) => error,
    })?;
    let done = Copier::new().copy(from, &target, &meta, &mut |piece| {
        options.check_stop()?;
        budget.take_bytes(piece)
    });
    done.map_err(|error| match error {
        ContentError::Own(error) => error,
        ContentError::System(error) => TreeError::io(to.path().join(name), error),
    })?;
    os::copy_attributes(from.as_fd(), target.as_fd());
    set_mode(
        target.as_fd(),
        permissions_of_copy(&meta, geteuid().as_raw()),
    )
    .and_then(|()| set_time(target.as_fd(), &meta))
    .map_err(refused)?;
    Ok(budget.bytes)
}

struct Copying<'a> {
    cursor: Cursor<'a>,
    target: Trail<'a>,
    from: &'a Dir,
    to: &'a Dir,
    options: &'a Options<'a>,
    copier: Copier,
    user: u32,
    skipped: Notes,
}

impl Copying<'_> {
    /// Moves the present entry, if the system lets us: not to another file system, nor out of a closed directory.
    fn is_moved(&self) -> bool {
        let name = self.cursor.name();
        renameat(self.cursor.here(), name, self.target.here(), name).is_ok()
    }

    fn copy_entry(&mut self, kind: Kind) -> Result<(), TreeError> {
        match kind {
            Kind::Dir => self.enter(),
            Kind::File => self.copy_file(),
            Kind::Link => self.copy_link(),
            Kind::Fifo => self.copy_fifo(),
            special => {
                self.skip(special);
                Ok(())
            }
        }
    }

    fn skip(&mut self, kind: Kind) {
        let why = match kind {
            Kind::Fifo => Why::Fifo,
            Kind::Socket => Why::Socket,
            Kind::Device => Why::Device,
            // It was another kind when it was listed.
            Kind::File | Kind::Dir | Kind::Link => Why::Failed(Errno::STALE.into()),
        };
        self.skipped.add(self.cursor.path(), why);
    }

    fn enter(&mut self) -> Result<(), TreeError> {
        match self.cursor.enter()? {
            Entering::Entered => {
                if self.cursor.here().meta().identity() == self.to.meta().identity() {
                    return Err(self.overlap());
                }
                let name = last_name(self.cursor.path().as_os_str().as_encoded_bytes());
                let dir = make_dir(self.target.here(), name, self.options)
                    .map_err(|error| self.place(error))?;
                if dir.meta().identity() == self.from.meta().identity() {
                    return Err(self.overlap());
                }
                self.target.enter(dir);
            }
            Entering::Mount => {
                self.skipped.add(self.cursor.path(), Why::MountPoint);
                let made = make_dir(self.target.here(), self.cursor.name(), self.options);
                made.map_err(|error| self.place(error))?;
            }
            Entering::NoDir => self.skip(Kind::Dir),
            Entering::Gone => {}
        }
        Ok(())
    }

    fn overlap(&self) -> TreeError {
        TreeError::Overlap {
            path: self.from.path().join(self.cursor.path()),
        }
    }

    fn leave(&mut self) -> Result<(), TreeError> {
        let meta = self.cursor.meta_of_here();
        let (made, found) = self.target.leave();
        // Last: a directory may be read-only, and its time changes with every file put into it.
        if let Some(made) = made {
            os::copy_attributes(self.cursor.here().as_fd(), made.as_fd());
            set_mode(made.as_fd(), meta.permissions())
                .and_then(|()| set_time(made.as_fd(), &meta))
                .map_err(|errno| self.place(errno.into()))?;
        }
        found.map_err(|lost| match lost {
            Lost::Moved => TreeError::Moved {
                path: self.to.path().join(self.cursor.path()),
            },
            Lost::Refused(errno) => self.place(errno.into()),
        })?;
        self.cursor.leave()
    }

    fn copy_file(&mut self) -> Result<(), TreeError> {
        let name = self.cursor.name();
        let (source, meta) = match self.cursor.here().file(name, self.options.unlock) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::XDEV) => {
                self.skipped.add(self.cursor.path(), Why::MountPoint);
                return Ok(());
            }
            // A link or a socket took its place.
            Err(Errno::LOOP | Errno::NXIO) => {
                self.skip(Kind::File);
                return Ok(());
            }
            Err(errno) => return Err(self.cursor.fails(errno)),
        };
        if !meta.is_file() {
            self.skip(meta.kind);
            return Ok(());
        }
        // What it is known to take is counted before anything is written.
        let known = meta.allocated.min(meta.size);
        self.cursor.budget.take_bytes(known)?;
        let target = make_file(self.target.here(), self.cursor.name(), self.options)
            .map_err(|error| self.place(error))?;
        self.copy_content(&source, &target, &meta, known)?;
        os::copy_attributes(source.as_fd(), target.as_fd());
        set_mode(target.as_fd(), permissions_of_copy(&meta, self.user))
            .and_then(|()| set_time(target.as_fd(), &meta))
            .map_err(|errno| self.place(errno.into()))
    }

    fn copy_content(
        &mut self,
        source: &File,
        target: &File,
        meta: &Meta,
        mut known: u64,
    ) -> Result<(), TreeError> {
        let options = self.options;
        let budget = &mut self.cursor.budget;
        let done = self.copier.copy(source, target, meta, &mut |piece| {
            options.check_stop()?;
            let beyond = piece.saturating_sub(known);
            known = known.saturating_sub(piece);
            budget.take_bytes(beyond)
        });
        done.map_err(|error| match error {
            ContentError::Own(error) => error,
            ContentError::System(error) => self.cursor.fails(error),
        })
    }

    fn copy_link(&mut self) -> Result<(), TreeError> {
        let name = self.cursor.name();
        let Some(meta) = self.cursor.meta()? else {
            return Ok(());
        };
        let text = match rustix::fs::readlinkat(self.cursor.here(), name, Vec::new()) {
            Ok(text) => text,
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::INVAL) => {
                self.skip(Kind::Link);
                return Ok(());
            }
            Err(errno) => return Err(self.cursor.fails(errno)),
        };
        let dir = self.target.here();
        let made = match symlinkat(&text, dir, name) {
            Err(Errno::EXIST) => {
                make_room(dir, name, self.options).and_then(|()| Ok(symlinkat(&text, dir, name)?))
            }
            answer => answer.map_err(Refusal::from),
        };
        made.and_then(|()| {
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            Ok(utimensat(dir, name, &times(&meta), flags)?)
        })
        .map_err(|error| self.place(error))
    }

    fn copy_fifo(&mut self) -> Result<(), TreeError> {
        let Some(meta) = self.cursor.meta()? else {
            return Ok(());
        };
        if meta.kind != Kind::Fifo || meta.is_mount_in(self.cursor.here().meta()) {
            self.skip(meta.kind);
            return Ok(());
        }
        let dir = self.target.here();
        let name = self.cursor.name();
        let permissions = permissions_of_copy(&meta, self.user);
        let made = match os::make_fifo(dir.as_fd(), name, permissions) {
            Err(Errno::EXIST) => make_room(dir, name, self.options)
                .and_then(|()| Ok(os::make_fifo(dir.as_fd(), name, permissions)?)),
            answer => answer.map_err(Refusal::from),
        };
        match made {
            // This system has no call for it.
            Err(Refusal::System(Errno::OPNOTSUPP)) => {
                self.skip(Kind::Fifo);
                Ok(())
            }
            answer => answer
                .and_then(|()| {
                    let flags = AtFlags::SYMLINK_NOFOLLOW;
                    Ok(utimensat(dir, name, &times(&meta), flags)?)
                })
                .map_err(|error| self.place(error)),
        }
    }

    /// Names the place in the destination.
    fn place(&self, refusal: Refusal) -> TreeError {
        let path = self.to.path().join(self.cursor.path());
        match refusal {
            Refusal::System(Errno::XDEV) => TreeError::MountPoint { path },
            Refusal::System(errno) => TreeError::io(path, errno),
            Refusal::Own(error) => error,
        }
    }
}

fn permissions_of_copy(meta: &Meta, user: u32) -> u32 {
    if meta.owner == user {
        meta.permissions()
    } else {
        meta.permissions() & 0o1777
    }
}

/// An error without a path, or one that has its path already.
enum Refusal {
    System(Errno),
    Own(TreeError),
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        Refusal::System(errno)
    }
}

impl From<TreeError> for Refusal {
    fn from(error: TreeError) -> Self {
        Refusal::Own(error)
    }
}

/// Returns the last part of a path that may end in a slash.
fn last_name(path: &[u8]) -> &[u8] {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// Makes a directory that can be written to, or opens the one that is there.
fn make_dir(parent: &Dir, name: &[u8], options: &Options<'_>) -> Result<Dir, Refusal> {
    for _ in 0..3 {
        let is_new = match mkdirat(parent, name, Mode::RWXU) {
            Err(Errno::EXIST) => false,
            answer => answer.map(|()| true)?,
        };
        match parent.child_unlocked(name) {
            Ok((dir, _)) => {
                if !is_new {
                    dir.make_writable()?;
                }
                return Ok(dir);
            }
            Err(Errno::NOTDIR | Errno::LOOP) => make_room(parent, name, options)?,
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(Errno::EXIST.into())
}

/// Makes an empty file, in the place of what was there.
fn make_file(dir: &Dir, name: &[u8], options: &Options<'_>) -> Result<File, Refusal> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let made = match openat(dir, name, flags, mode) {
        Err(Errno::EXIST) => {
            make_room(dir, name, options)?;
            openat(dir, name, flags, mode)?
        }
        answer => answer?,
    };
    Ok(File::from(made))
}

/// Removes what is in the place of a new entry.
fn make_room(dir: &Dir, name: &[u8], options: &Options<'_>) -> Result<(), Refusal> {
    // What is there was not made by this copy, so that its size is no reason to stop.
    let options = Options {
        limits: Limits::NONE,
        ..*options
    };
    let removed = remove_at(dir, as_path(name).as_os_str(), &options)?;
    Ok(removed.left.into_result(dir.path())?)
}
