//! Trees of files on their way to another machine, as plain `tar` archives.
//!
//! What comes from a worker is foreign: an agent may have written all of it. So nothing in an archive leads out of the
//! directory that it is unpacked in, and nothing that is there already is replaced or followed.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use camino::Utf8Path;
use tar::{Archive, Builder, EntryType, Header};
use terca_core::text::prose;

use crate::tree::{self, Dir, Kind, Meta, Options, Visit};

/// The most bytes between two files of an archive: what is said about the next one. Nobody has longer paths.
const MOST_HEADERS: u64 = 256 * 1024;
/// The bytes of a block: an entry takes one on the disk, and its content whole ones. In an archive both take less.
const BLOCK: u64 = 4096;
/// The bytes at the end of an archive.
const OF_THE_END: u64 = 1024;
/// The longest text of a link that is in the header itself.
const SHORT_LINK: usize = 100;

/// Writes files and trees into an archive.
pub struct Packer<W: Write> {
    archive: Builder<W>,
    /// The bytes that there is still room for.
    left: u64,
    /// The entries that had no room.
    left_out: Vec<PathBuf>,
}

impl<W: Write> std::fmt::Debug for Packer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packer").finish_non_exhaustive()
    }
}

impl<W: Write> Packer<W> {
    /// Begins an archive of at most so many bytes. What has no room is left out.
    pub fn new(to: W, most: u64) -> Self {
        Packer {
            archive: Builder::new(to),
            left: most.saturating_sub(OF_THE_END),
            left_out: Vec::new(),
        }
    }

    /// Adds everything in a directory, under another path. Sockets, pipes and devices are left out.
    pub fn add_tree(&mut self, dir: &Dir, at: &Utf8Path) -> io::Result<()> {
        self.add_dir(at.as_std_path(), dir.meta())?;
        tree::walk(dir, &Options::reading(), &mut |entry, meta| {
            let path = at.as_std_path().join(entry.path);
            match entry.kind {
                Kind::Dir => self.add_dir(&path, meta)?,
                _ => self.add_entry(entry.parent, Path::new(entry.name), &path)?,
            }
            Ok(Visit::Continue)
        })?;
        Ok(())
    }

    /// Adds a file or link of a directory, under another path. One that is not there any more is left out, and so is a file
    /// that cannot be read: it is not the trial's own work.
    pub fn add_entry(&mut self, dir: &Dir, name: &Path, at: &Path) -> io::Result<()> {
        let Some(meta) = dir.meta_at(name)? else {
            return Ok(());
        };
        match meta.kind {
            Kind::File => match dir.open_file(name) {
                Ok(file) => self.add_file(at, file, &meta),
                Err(_) => Ok(()),
            },
            Kind::Link => self.add_link(at, &dir.read_link(name)?, &meta),
            Kind::Dir | Kind::Other => Ok(()),
        }
    }

    fn add_file(&mut self, path: &Path, file: File, meta: &Meta) -> io::Result<()> {
        if !self.has_room(path, meta.size) {
            return Ok(());
        }
        let mut header = header(EntryType::Regular, meta);
        header.set_size(meta.size);
        // Exactly as long as it was said to be: a file may grow or shrink meanwhile.
        let content = file.chain(io::repeat(0)).take(meta.size);
        self.archive.append_data(&mut header, path, content)
    }

    /// Adds a directory.
    pub fn add_dir(&mut self, path: &Path, meta: &Meta) -> io::Result<()> {
        if path.as_os_str().is_empty() || !self.has_room(path, 0) {
            return Ok(());
        }
        let mut header = header(EntryType::Directory, meta);
        self.archive.append_data(&mut header, path, io::empty())
    }

    fn add_link(&mut self, path: &Path, text: &Path, meta: &Meta) -> io::Result<()> {
        if !self.has_room(path, text.as_os_str().len() as u64) {
            return Ok(());
        }
        let mut header = header(EntryType::Symlink, meta);
        if text.as_os_str().len() > SHORT_LINK {
            return self.archive.append_link(&mut header, path, text);
        }
        // As it is: `a//b` and `./a` are other texts than `a/b` and `a`.
        header.set_link_name_literal(text.as_os_str().as_bytes())?;
        self.archive.append_data(&mut header, path, io::empty())
    }

    /// Makes room for an entry, or notes that there is none.
    fn has_room(&mut self, path: &Path, content: u64) -> bool {
        let left = self.left.checked_sub(room(path, content));
        match left {
            Some(left) => self.left = left,
            None => self.left_out.push(path.to_owned()),
        }
        left.is_some()
    }

    /// Ends the archive. Returns the entries that had no room.
    pub fn finish(self) -> io::Result<(W, Vec<PathBuf>)> {
        Ok((self.archive.into_inner()?, self.left_out))
    }
}

/// Returns a header. The owner is the one who unpacks it, and the time is the same for the same content.
fn header(kind: EntryType, meta: &Meta) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(meta.mode & 0o777);
    header.set_mtime(0);
    header.set_size(0);
    header
}

/// Returns the bytes that an entry takes, in an archive and on the disk.
fn room(path: &Path, content: u64) -> u64 {
    let blocks = content.div_ceil(BLOCK).saturating_add(1);
    blocks
        .saturating_mul(BLOCK)
        .saturating_add(path.as_os_str().len() as u64)
}

/// Unpacks an archive into a directory, whose entries take at most so many bytes. Nothing that is there is replaced, but
/// directories may be.
pub fn unpack(from: impl Read, into: &Dir, most: u64) -> io::Result<()> {
    let mut free = most;
    let left = Rc::new(Cell::new(MOST_HEADERS));
    let mut archive = Archive::new(Metered {
        from,
        left: left.clone(),
    });
    let mut modes: Vec<(PathBuf, u32)> = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        left.set(entry.size().saturating_add(MOST_HEADERS));
        let path = entry.path()?.into_owned();
        free = (free.checked_sub(room(&path, entry.size()))).ok_or_else(|| {
            let words = format!(
                "its files take more than {} (limits.disk)",
                prose::bytes(most)
            );
            io::Error::new(io::ErrorKind::QuotaExceeded, words)
        })?;
        let mode = entry.header().mode()? & 0o777;
        match entry.header().entry_type() {
            EntryType::Directory => {
                into.create_dir_all(&path, 0o755)?;
                modes.push((path, mode));
            }
            EntryType::Regular => {
                let above = path.parent().filter(|above| !above.as_os_str().is_empty());
                if let Some(above) = above {
                    into.create_dir_all(above, 0o755)?;
                }
                io::copy(&mut entry, &mut into.create_file(&path, mode)?)?;
            }
            EntryType::Symlink => {
                let text = entry.link_name()?;
                let text = text.ok_or_else(|| io::Error::other("a link leads nowhere"))?;
                into.create_link(text, &path)?;
            }
            _ => {
                return Err(io::Error::other(format!(
                    "the archive has an entry of a kind that is not unpacked: {}",
                    path.display()
                )));
            }
        }
    }
    // Last, and the deepest first: a directory that cannot be written could not be filled.
    for (path, mode) in modes.iter().rev() {
        into.open_dir(path)?.set_mode(*mode)?;
    }
    Ok(())
}

/// A reader that gives no more than it was allowed to. An archive may have names of any length, which would be read at
/// once.
#[derive(Debug)]
struct Metered<R> {
    from: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        match self.left.get().checked_sub(length as u64) {
            Some(left) => self.left.set(left),
            None => return Err(io::Error::other("the archive has a name that is too long")),
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A file in an archive that no packer of ours would make.
    struct Forged {
        kind: EntryType,
        path: &'static str,
        /// The text of a link.
        link: &'static str,
        mode: u32,
    }

    const FILE: Forged = Forged {
        kind: EntryType::Regular,
        path: "file",
        link: "",
        mode: 0o644,
    };

    /// Returns an archive with these entries, whose paths are written as they are.
    fn archive(entries: &[Forged]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for entry in entries {
            let mut header = Header::new_gnu();
            let name = entry.path.as_bytes();
            header.as_mut_bytes()[..name.len()].copy_from_slice(name);
            header.set_entry_type(entry.kind);
            header.set_mode(entry.mode);
            let content: &[u8] = match entry.kind {
                EntryType::Regular => b"forged",
                _ => b"",
            };
            if !entry.link.is_empty() {
                header.set_link_name_literal(entry.link).unwrap();
            }
            header.set_size(content.len() as u64);
            header.set_cksum();
            builder.append(&header, content).unwrap();
        }
        builder.into_inner().unwrap()
    }

    /// Unpacks an archive into `in/to`, beside a file that must stay as it is.
    fn unpacked(archive: &[u8]) -> (tempfile::TempDir, io::Result<()>) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("outside"), "as it was").unwrap();
        let to = dir.path().join("to");
        fs::create_dir(&to).unwrap();
        symlink("../outside", to.join("leads-out")).unwrap();
        symlink("..", to.join("up")).unwrap();
        fs::write(to.join("here"), "as it was").unwrap();
        let into = Dir::open(Utf8Path::from_path(&to).unwrap()).unwrap();
        let result = unpack(archive, &into, u64::MAX);
        (dir, result)
    }

    #[test]
    fn nothing_leads_out_of_an_archive_or_replaces_a_file() {
        let link = |path, text| Forged {
            kind: EntryType::Symlink,
            path,
            link: text,
            ..FILE
        };
        let dir = |path| Forged {
            kind: EntryType::Directory,
            path,
            ..FILE
        };
        let file = |path| Forged { path, ..FILE };
        let other = |kind, path, text| Forged {
            kind,
            path,
            link: text,
            ..FILE
        };
        let cases: Vec<(&str, Vec<Forged>)> = vec![
            ("up", vec![file("../outside")]),
            ("up and down", vec![file("a/../../outside")]),
            ("absolute", vec![file("/outside")]),
            ("a link that is there", vec![file("leads-out")]),
            ("through a link that is there", vec![file("up/outside")]),
            ("a directory through a link", vec![dir("up/made")]),
            (
                "through a link of its own",
                vec![link("l", ".."), file("l/outside")],
            ),
            (
                "a directory over a link of its own",
                vec![link("l", ".."), dir("l"), file("l/outside")],
            ),
            ("a file that is there", vec![file("here")]),
            ("the same file twice", vec![file("f"), file("f")]),
            (
                "a hard link",
                vec![other(EntryType::Link, "h", "../outside")],
            ),
            ("a pipe", vec![other(EntryType::Fifo, "p", "")]),
            ("a device", vec![other(EntryType::Char, "c", "")]),
            ("no name", vec![file(".")]),
        ];
        for (name, entries) in cases {
            let (dir, result) = unpacked(&archive(&entries));
            assert!(result.is_err(), "{name}");
            let read = |path: &str| fs::read_to_string(dir.path().join(path)).unwrap();
            assert_eq!(read("outside"), "as it was", "{name}");
            assert_eq!(read("to/here"), "as it was", "{name}");
            let mut names: Vec<_> = fs::read_dir(dir.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            assert_eq!(names, ["outside", "to"], "{name}");
        }
    }

    #[test]
    fn a_link_is_kept_as_its_text_and_modes_give_no_rights() {
        let entries = [
            Forged {
                kind: EntryType::Symlink,
                path: "l",
                link: "/etc/passwd",
                ..FILE
            },
            Forged {
                mode: 0o6755,
                ..FILE
            },
        ];
        let (dir, result) = unpacked(&archive(&entries));
        result.unwrap();
        let to = dir.path().join("to");
        assert_eq!(
            fs::read_link(to.join("l")).unwrap(),
            Path::new("/etc/passwd")
        );
        let mode = fs::metadata(to.join("file")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7000, 0);
    }

    #[test]
    fn a_name_without_end_takes_no_memory() {
        let mut builder = Builder::new(Vec::new());
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..4].copy_from_slice(b"long");
        header.set_entry_type(EntryType::GNULongName);
        let length = 64 << 20;
        header.set_size(length);
        header.set_cksum();
        builder
            .append(&header, io::repeat(b'a').take(length))
            .unwrap();
        let (_dir, result) = unpacked(&builder.into_inner().unwrap());
        let error = result.unwrap_err().to_string();
        assert!(error.contains("a name that is too long"), "{error}");
    }

    #[test]
    fn a_file_that_has_no_room_is_left_out_and_named() {
        let from = tempfile::tempdir().unwrap();
        fs::File::create(from.path().join("huge"))
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
        fs::write(from.path().join("small"), "text").unwrap();
        let mut packer = Packer::new(Vec::new(), 1 << 20);
        let dir = Dir::open(Utf8Path::from_path(from.path()).unwrap()).unwrap();
        packer.add_tree(&dir, Utf8Path::new("")).unwrap();
        let (archive, left_out) = packer.finish().unwrap();
        assert_eq!(left_out, [Path::new("huge")]);
        let (to, result) = unpacked(&archive);
        result.unwrap();
        assert!(to.path().join("to/small").exists() && !to.path().join("to/huge").exists());
    }

    #[test]
    fn links_are_kept_to_the_letter() {
        let from = tempfile::tempdir().unwrap();
        let long = format!("./a//{}/../b", "x".repeat(200));
        let texts = ["a//b", "./a", "a/./b", "a/", &long];
        for (number, text) in texts.iter().enumerate() {
            symlink(text, from.path().join(number.to_string())).unwrap();
        }
        let mut packer = Packer::new(Vec::new(), u64::MAX);
        let dir = Dir::open(Utf8Path::from_path(from.path()).unwrap()).unwrap();
        packer.add_tree(&dir, Utf8Path::new("")).unwrap();
        let (to, result) = unpacked(&packer.finish().unwrap().0);
        result.unwrap();
        for (number, text) in texts.iter().enumerate() {
            let link = fs::read_link(to.path().join("to").join(number.to_string())).unwrap();
            assert_eq!(link.as_os_str(), *text);
        }
    }

    #[test]
    fn an_archive_that_is_cut_is_an_error() {
        let whole = archive(&[FILE]);
        for cut in [5, 515] {
            let (_dir, result) = unpacked(&whole[..cut]);
            assert!(result.is_err(), "{cut}");
        }
    }

    #[test]
    fn a_tree_comes_as_it_was() {
        let from = tempfile::tempdir().unwrap();
        let root = from.path();
        fs::create_dir_all(root.join("deep/closed")).unwrap();
        fs::write(root.join("deep/closed/file"), "text").unwrap();
        fs::write(root.join("run"), "").unwrap();
        fs::set_permissions(root.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(root.join("deep/closed"), fs::Permissions::from_mode(0o555)).unwrap();
        symlink("deep/closed", root.join("link")).unwrap();
        let mut packer = Packer::new(Vec::new(), u64::MAX);
        let dir = Dir::open(Utf8Path::from_path(root).unwrap()).unwrap();
        packer.add_tree(&dir, Utf8Path::new("")).unwrap();
        let (to, result) = unpacked(&packer.finish().unwrap().0);
        result.unwrap();
        let to = to.path().join("to");
        let mode = |path: &str| fs::metadata(to.join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("run"), mode("deep/closed")), (0o755, 0o555));
        assert_eq!(fs::read_to_string(to.join("link/file")).unwrap(), "text");
        for closed in [root.join("deep/closed"), to.join("deep/closed")] {
            fs::set_permissions(closed, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}
