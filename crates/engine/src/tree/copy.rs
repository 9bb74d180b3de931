//! Copying and moving trees.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, symlinkat, utimensat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::tree::dir::{Dir, set_facts, times};
use crate::tree::error::{Notes, TreeError, mounted};
use crate::tree::hash::{next_data, read_at};
use crate::tree::limits::{Budget, Options};
use crate::tree::meta::{Kind, Meta};
use crate::tree::os;
use crate::tree::remove::remove_at;
use crate::tree::walk::{Descent, Entry, Step, Walker};

/// Copies the content of a directory into another, entry by entry.
///
/// Keeps permissions, times, links as they are written, named pipes, empty directories, holes, and the extended
/// attributes that users give. An entry that is there
/// already is replaced; two directories are joined. A file with several names becomes several files. The right
/// to act as the owner goes with the owner: a copy of somebody else's file does not have it.
///
/// `choose` sees every entry before it is copied, and says if it is. Returns the pipes, sockets, devices and mount points, which
/// have no copy. A mounted directory is an empty one.
pub fn copy(
    from: &Dir,
    to: &Dir,
    options: &Options<'_>,
    choose: &mut dyn FnMut(&Entry<'_>) -> Result<bool, TreeError>,
) -> Result<Notes, TreeError> {
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
) -> Result<Notes, TreeError> {
    if from.meta().identity() == to.meta().identity() {
        let path = from.path().to_owned();
        return Err(TreeError::Overlap { path });
    }
    let mut copying = Copying {
        walker: Walker::new(from, options)?,
        target: Descent::new(to),
        roots: [from.meta().identity(), to.meta().identity()],
        options,
        can_clone: true,
        skipped: Notes::default(),
    };
    // The depth in a directory that could not be moved: everything in it goes with it.
    let mut whole: Option<usize> = None;
    loop {
        match copying.walker.step()? {
            Step::Done => break,
            Step::End => {
                copying.leave()?;
                let depth = copying.walker.depth();
                whole = whole.filter(|from| depth >= *from);
            }
            Step::Entry(kind) => {
                let choice = match whole {
                    Some(_) => Choice::Move,
                    None => choose(&copying.walker.entry(kind))?,
                };
                match choice {
                    Choice::Leave => {}
                    Choice::Move if copying.is_moved() => {}
                    Choice::Copy => copying.copy_entry(kind)?,
                    Choice::Move => {
                        let depth = copying.walker.depth();
                        copying.copy_entry(kind)?;
                        let has_entered = copying.walker.depth() > depth;
                        whole = whole.or(has_entered.then_some(depth + 1));
                    }
                }
            }
        }
    }
    Ok(copying.skipped)
}

/// Copies the content of an open file into a directory, in the place of what has the name there. Keeps its
/// permissions and time.
pub fn copy_file(
    from: &File,
    to: &Dir,
    name: &OsStr,
    options: &Options<'_>,
) -> Result<(), TreeError> {
    let meta = os::meta_of(from.as_fd()).map_err(|errno| to.error(name, errno))?;
    Budget::new(options.limits).take_bytes(meta.counted())?;
    put_file(from, &meta, to, name, options, &mut true)
}

struct Copying<'a> {
    walker: Walker<'a>,
    target: Descent<'a>,
    /// The identities of source and destination.
    roots: [(u64, u64); 2],
    options: &'a Options<'a>,
    /// False once the file system has refused to share blocks.
    can_clone: bool,
    skipped: Notes,
}

impl Copying<'_> {
    /// Moves the present entry, if the system lets us: not to another file system, nor out of a closed directory.
    fn is_moved(&self) -> bool {
        let Entry { parent, name, .. } = self.walker.entry(Kind::File);
        renameat(parent, name, self.target.here(), name).is_ok()
    }

    fn copy_entry(&mut self, kind: Kind) -> Result<(), TreeError> {
        match kind {
            Kind::Dir => self.enter(),
            Kind::File => self.copy_file(),
            Kind::Link => self.copy_link(),
            Kind::Other => {
                self.skip(kind);
                Ok(())
            }
        }
    }

    fn skip(&mut self, kind: Kind) {
        let why = match kind {
            Kind::Other => io::Error::other("a pipe, a socket or a device"),
            // It was another kind when it was listed.
            Kind::File | Kind::Dir | Kind::Link => Errno::STALE.into(),
        };
        self.skipped.add(self.walker.path(), why);
    }

    fn enter(&mut self) -> Result<(), TreeError> {
        let entering = self.walker.enter()?;
        let name = self.walker.path().file_name().unwrap_or_default();
        match entering {
            None => {
                let from = self.walker.here();
                let [source, destination] = self.roots;
                let overlap = || TreeError::Overlap {
                    path: from.path().to_owned(),
                };
                if from.meta().identity() == destination {
                    return Err(overlap());
                }
                let dir = make_dir(self.target.here(), name, self.options)?;
                if dir.meta().identity() == source {
                    return Err(overlap());
                }
                self.target.enter(dir);
            }
            Some(Errno::XDEV) => {
                make_dir(self.target.here(), name, self.options)?;
                self.skipped.add(self.walker.path(), mounted());
            }
            Some(Errno::NOENT) => {}
            Some(_) => self.skip(Kind::Dir),
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), TreeError> {
        let left = self.walker.leave()?;
        let above = self.walker.path().parent().unwrap_or(Path::new(""));
        // Last: a directory may be read-only, and its time changes with every file put into it.
        if let (Some(from), Some(made)) = (left, self.target.leave(above)?) {
            os::copy_attributes(from.as_fd(), made.as_fd());
            made.set_facts(from.meta())?;
        }
        Ok(())
    }

    fn copy_file(&mut self) -> Result<(), TreeError> {
        let entry = self.walker.entry(Kind::File);
        let (source, meta) = match entry.parent.file(entry.name, self.options.unlock) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::XDEV) => {
                self.skipped.add(self.walker.path(), mounted());
                return Ok(());
            }
            // A link or a socket took its place.
            Err(Errno::LOOP | Errno::NXIO) => {
                self.skip(Kind::File);
                return Ok(());
            }
            Err(errno) => return Err(entry.error(errno)),
        };
        if !meta.is_file() {
            self.skip(meta.kind);
            return Ok(());
        }
        self.walker.budget.take_bytes(meta.counted())?;
        let name = self.walker.entry(Kind::File).name;
        let to = self.target.here();
        put_file(&source, &meta, to, name, self.options, &mut self.can_clone)
    }

    fn copy_link(&mut self) -> Result<(), TreeError> {
        let entry = self.walker.entry(Kind::Link);
        let Some(meta) = entry.meta()? else {
            return Ok(());
        };
        if !meta.is_link() || meta.is_mount_in(entry.parent.meta()) {
            self.skip(Kind::Link);
            return Ok(());
        }
        let (to, name) = (self.target.here(), entry.name);
        let text = entry.read_link()?;
        let make = || symlinkat(&text, to, name);
        let made = match make() {
            Err(Errno::EXIST) => {
                make_room(to, name, self.options)?;
                make()
            }
            answer => answer,
        };
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        made.and_then(|()| utimensat(to, name, &times(&meta), flags))
            .map_err(|errno| to.error(name, errno))
    }
}

fn permissions_of_copy(meta: &Meta) -> u32 {
    if meta.owner == geteuid().as_raw() {
        meta.permissions()
    } else {
        meta.permissions() & 0o1777
    }
}

/// Makes a directory that can be written to, or opens the one that is there.
fn make_dir(parent: &Dir, name: &OsStr, options: &Options<'_>) -> Result<Dir, TreeError> {
    let failed = |errno| parent.error(name, errno);
    for _ in 0..3 {
        match mkdirat(parent, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(errno)),
        }
        match parent.child_writable(name) {
            Ok(dir) => return Ok(dir),
            Err(Errno::NOTDIR | Errno::LOOP) => make_room(parent, name, options)?,
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno)),
        }
    }
    Err(failed(Errno::EXIST))
}

/// Makes a file with the content and facts of another, in the place of what was there.
fn put_file(
    source: &File,
    meta: &Meta,
    to: &Dir,
    name: &OsStr,
    options: &Options<'_>,
    can_clone: &mut bool,
) -> Result<(), TreeError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let make = || openat(to, name, flags, Mode::RUSR | Mode::WUSR);
    let made = match make() {
        Err(Errno::EXIST) => {
            make_room(to, name, options)?;
            make()
        }
        answer => answer,
    };
    let target = File::from(made.map_err(|errno| to.error(name, errno))?);
    copy_content(source, &target, meta, options, can_clone).map_err(|error| {
        if error.kind() == io::ErrorKind::Interrupted {
            return TreeError::Stopped;
        }
        TreeError::io(to.path().join(name), error)
    })?;
    os::copy_attributes(source.as_fd(), target.as_fd());
    set_facts(target.as_fd(), permissions_of_copy(meta), meta)
        .map_err(|errno| to.error(name, errno))
}

/// Removes what is in the place of a new entry.
fn make_room(dir: &Dir, name: &OsStr, options: &Options<'_>) -> Result<(), TreeError> {
    remove_at(dir, name, options)?.into_result(dir.path())
}

/// The largest piece between two looks at the interrupt.
const PIECE: u64 = 8 << 20;
/// Up to here a file is read and written at once.
const SMALL: u64 = 128 << 10;

/// Copies content to an empty file. Holes stay holes, so that a file of a terabyte with nothing in it takes nothing.
fn copy_content(
    mut from: &File,
    mut to: &File,
    meta: &Meta,
    options: &Options<'_>,
    can_clone: &mut bool,
) -> io::Result<()> {
    let has_holes = meta.allocated < meta.size;
    if meta.size <= SMALL && !has_holes {
        // At most what was counted, though the file may grow meanwhile.
        let mut content = vec![0; meta.size as usize];
        let length = read_at(from, &mut content, 0)?;
        return to.write_all(&content[..length]);
    }
    *can_clone = *can_clone && os::clone_content(from, to).is_ok();
    if *can_clone {
        return Ok(());
    }
    let mut offset = 0;
    while let Some((start, end)) = next_data(from, offset, meta.size)? {
        offset = start;
        while offset < end {
            options.check_stop()?;
            from.seek(SeekFrom::Start(offset))?;
            to.seek(SeekFrom::Start(offset))?;
            match io::copy(&mut from.take((end - offset).min(PIECE)), &mut to)? {
                // The file became shorter meanwhile.
                0 => return Ok(()),
                copied => offset += copied,
            }
        }
    }
    to.set_len(meta.size)
}

/// Returns whether the copy of a file can share its blocks with the original. The copy must be empty.
pub fn can_share(from: &File, to: &File) -> bool {
    os::clone_content(from, to).is_ok()
}

/// A file that is read from where it is, with its holes passed over.
///
/// Programs that print make no holes. A program that sets the length of its output to a terabyte does, and the zeros in
/// there would take hours to read and fill the disk when they are copied.
#[derive(Debug)]
pub struct WithoutHoles<'a>(pub &'a File);

impl Read for WithoutHoles<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.0;
        let meta = os::meta_of(file.as_fd())?;
        // Looking for holes takes longer than reading, and nearly no file has one.
        if meta.allocated >= meta.size {
            return file.read(buffer);
        }
        let place = file.stream_position()?;
        let Some((start, end)) = next_data(file, place, meta.size)? else {
            file.seek(SeekFrom::Start(meta.size.max(place)))?;
            return Ok(0);
        };
        file.seek(SeekFrom::Start(start))?;
        // A piece never reaches into a hole, so that what is read does not depend on the buffer.
        file.take(end - start).read(buffer)
    }
}

/// Moves a directory into another, under a name that is free. Where it cannot be renamed it is copied and then
/// removed.
pub fn move_dir(
    from: &Dir,
    name: &OsStr,
    to: &Dir,
    new_name: &OsStr,
    options: &Options<'_>,
) -> Result<(), TreeError> {
    let refused = |errno| from.error(name, errno);
    match renameat(from, name, to, new_name) {
        // A directory that its owner may not change cannot be renamed, but what is in it can.
        Err(Errno::XDEV | Errno::ACCESS) => {}
        answer => return answer.map_err(refused),
    }
    let source = from.child_writable(name).map_err(refused)?;
    let target = to.create_dir(new_name, 0o700)?;
    transfer(&source, &target, options, &mut |_| Ok(Choice::Move))?;
    target.set_facts(source.meta())?;
    remove_at(from, name, options)?.into_result(source.path())
}
