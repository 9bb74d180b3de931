//! Parcels: trees of files on their way to another machine, as a compressed archive.
//!
//! What comes from a worker is foreign: an agent may have written all of it. So nothing in a parcel leads out of the
//! directory that it is unpacked in, and nothing that is there already is replaced or followed.

use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use camino::Utf8Path;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tar::{Archive, Builder, EntryType, Header};

use crate::tree::{self, Dir, Kind, Limits, Meta, Options, Visit};

/// The most that a parcel may come to when it is unpacked.
const LARGEST: Limits = Limits {
    bytes: 1 << 40,
    entries: 10_000_000,
    ..Limits::NONE
};

/// Writes files and trees into an archive.
pub struct Packer<W: Write> {
    archive: Builder<GzEncoder<W>>,
}

impl<W: Write> std::fmt::Debug for Packer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packer").finish_non_exhaustive()
    }
}

impl<W: Write> Packer<W> {
    /// Begins an archive. The quickest compression: most parcels are small texts, and the network is rarely slow.
    pub fn new(to: W) -> Self {
        Packer {
            archive: Builder::new(GzEncoder::new(to, Compression::fast())),
        }
    }

    /// Adds everything in a directory, under another path. Sockets, pipes and devices are left out.
    pub fn add_tree(&mut self, dir: &Dir, at: &Utf8Path) -> io::Result<()> {
        let options = Options {
            limits: Limits::NONE,
            unlock: false,
            ..Options::default()
        };
        self.add_dir(at.as_std_path(), dir.meta())?;
        let mut failed = None;
        tree::walk(dir, &options, &mut |entry, meta| {
            let path = at.as_std_path().join(entry.path);
            let added = match entry.kind {
                Kind::Dir => self.add_dir(&path, meta),
                Kind::Link => entry
                    .read_link()
                    .map_err(io::Error::from)
                    .and_then(|text| self.add_link(&path, &text, meta)),
                // A file that cannot be read is not the trial's own work.
                Kind::File => match entry.open() {
                    Ok(file) => self.add_file(&path, file, meta),
                    Err(_) => Ok(()),
                },
                Kind::Fifo | Kind::Socket | Kind::Device => Ok(()),
            };
            if let Err(error) = added {
                failed = Some(error);
                return Ok(Visit::End);
            }
            Ok(Visit::Continue)
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Adds a file or link of a directory, under another path. One that is not there any more is left out.
    pub fn add_entry(&mut self, dir: &Dir, name: &Path, at: &Path) -> io::Result<()> {
        let Some(meta) = dir.meta_at(name)? else {
            return Ok(());
        };
        match meta.kind {
            Kind::File => self.add_file(at, dir.open_file(name)?, &meta),
            Kind::Link => self.add_link(at, &dir.read_link(name)?, &meta),
            Kind::Dir | Kind::Fifo | Kind::Socket | Kind::Device => Ok(()),
        }
    }

    /// Adds a file.
    fn add_file(&mut self, path: &Path, file: impl Read, meta: &Meta) -> io::Result<()> {
        let mut header = header(EntryType::Regular, meta);
        header.set_size(meta.size);
        // Exactly as long as it was said to be: a file may grow or shrink meanwhile.
        let content = file.chain(io::repeat(0)).take(meta.size);
        self.archive.append_data(&mut header, path, content)
    }

    /// Adds a directory.
    pub fn add_dir(&mut self, path: &Path, meta: &Meta) -> io::Result<()> {
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        let mut header = header(EntryType::Directory, meta);
        self.archive.append_data(&mut header, path, io::empty())
    }

    fn add_link(&mut self, path: &Path, text: &Path, meta: &Meta) -> io::Result<()> {
        let mut header = header(EntryType::Symlink, meta);
        self.archive.append_link(&mut header, path, text)
    }

    /// Ends the archive.
    pub fn finish(self) -> io::Result<W> {
        self.archive.into_inner()?.finish()
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

/// Unpacks an archive into a directory. Nothing that is there is replaced, but directories may be.
pub fn unpack(from: impl Read, into: &Dir) -> io::Result<()> {
    let mut archive = Archive::new(GzDecoder::new(from));
    let mut modes: Vec<(PathBuf, u32)> = Vec::new();
    let (mut bytes, mut entries) = (0_u64, 0_u64);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = inside(&entry.path()?)?;
        bytes = bytes.saturating_add(entry.size());
        entries += 1;
        if bytes > LARGEST.bytes || entries > LARGEST.entries {
            return Err(io::Error::other("the parcel is too large"));
        }
        let mode = entry.header().mode()? & 0o777;
        match entry.header().entry_type() {
            EntryType::Directory => {
                into.create_dir_all(&path, 0o755)?;
                modes.push((path, mode));
            }
            EntryType::Regular => {
                if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
                    into.create_dir_all(above, 0o755)?;
                }
                let mut file = into.create_file(&path, mode)?;
                io::copy(&mut entry, &mut file)?;
            }
            EntryType::Symlink => {
                let text = entry.link_name()?;
                let text = text.ok_or_else(|| io::Error::other("a link leads nowhere"))?;
                into.create_link(text, &path)?;
            }
            _ => return Err(io::Error::other("the parcel has something that is no file")),
        }
    }
    // Last, and the deepest first: a directory that cannot be written could not be filled.
    for (path, mode) in modes.iter().rev() {
        into.open_dir(path)?.set_mode(*mode)?;
    }
    Ok(())
}

/// Returns a path that leads into a directory, or an error.
fn inside(path: &Path) -> io::Result<PathBuf> {
    let is_inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_inside && path.file_name().is_some() {
        return Ok(path.components().collect());
    }
    let message = format!(
        "the parcel has a path that leads out of it: {}",
        path.display()
    );
    Err(io::Error::other(message))
}
