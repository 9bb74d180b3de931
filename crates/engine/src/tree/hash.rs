//! Hashes of trees and files, and the comparison of two files.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::geteuid;
use sha2::{Digest, Sha256};
use terca_core::text::hexadecimal;

use crate::tree::dir::Dir;
use crate::tree::error::TreeError;
use crate::tree::limits::Options;
use crate::tree::meta::{Kind, Meta};
use crate::tree::walk::{Visit, walk};

/// Files are read in blocks of this length. Blocks of zeros have a part in a hash by being left out.
const BLOCK: u64 = 64 << 10;

/// Returns the SHA-256 of a tree in hexadecimal. It depends on names, kinds, contents, the text of links and the
/// right to execute. Directories count by what is in them, so that an empty one does not, and a mount point has
/// no content.
pub fn hash(root: &Dir, options: &Options<'_>) -> Result<String, TreeError> {
    let mut hasher = Sha256::new();
    walk(root, options, &mut |entry, meta| {
        if meta.is_dir() {
            return Ok(Visit::Continue);
        }
        add(&mut hasher, entry.path.as_os_str().as_bytes());
        hasher.update([u8::from(meta.permissions() & 0o111 != 0)]);
        match meta.kind {
            Kind::File if !entry.is_mount => match entry.open() {
                // Old kernels tell a mount only now.
                Err(TreeError::MountPoint { .. }) => hasher.update(b"s"),
                file => {
                    hasher.update(b"f");
                    hasher.update(hash_content(&file?, entry.path, options)?);
                }
            },
            Kind::Link => {
                hasher.update(b"l");
                add(&mut hasher, entry.read_link()?.as_os_str().as_bytes());
            }
            _ => hasher.update(b"s"),
        }
        Ok(Visit::Continue)
    })?;
    Ok(hexadecimal(&hasher.finalize()))
}

/// Returns the hash of one open file in hexadecimal, without its name and permissions.
pub fn hash_file(file: &File, options: &Options<'_>) -> Result<String, TreeError> {
    hash_content(file, Path::new(""), options).map(|hash| hexadecimal(&hash))
}

fn hash_content(file: &File, path: &Path, options: &Options<'_>) -> Result<[u8; 32], TreeError> {
    let failed = |error: io::Error| TreeError::io(path, error);
    let size = file.metadata().map_err(failed)?.len();
    let mut hasher = Sha256::new();
    hasher.update(size.to_le_bytes());
    let mut buffer = vec![0; size.min(BLOCK) as usize];
    let mut offset = 0;
    while let Some((data, _)) = next_data(file, offset, size).map_err(failed)? {
        options.check_stop()?;
        // From the beginning of the block that has it.
        offset = offset.max(data - data % BLOCK);
        let read = read_at(file, &mut buffer, offset).map_err(failed)?;
        let block = &buffer[..read];
        if block.iter().any(|byte| *byte != 0) {
            hasher.update(offset.to_le_bytes());
            hasher.update(block);
        }
        // The file may have become shorter meanwhile.
        if read == 0 {
            break;
        }
        offset += read as u64;
    }
    Ok(hasher.finalize().into())
}

/// Returns the next stretch of data at or after an offset, as start and end.
pub(super) fn next_data(file: &File, offset: u64, size: u64) -> io::Result<Option<(u64, u64)>> {
    use rustix::fs::{SeekFrom, seek};
    if offset >= size {
        return Ok(None);
    }
    let start = match seek(file, SeekFrom::Data(offset)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        // The file system knows no holes.
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOTTY) => return Ok(Some((offset, size))),
        Err(errno) => return Err(errno.into()),
    };
    if start >= size {
        return Ok(None);
    }
    let end = seek(file, SeekFrom::Hole(start)).unwrap_or(size).min(size);
    Ok(Some((start, end.max(start + 1))))
}

/// Reads until the buffer is full or the file ends.
pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Returns true when two open files have the same bytes.
pub fn have_same_content(
    one: &File,
    other: &File,
    options: &Options<'_>,
) -> Result<bool, TreeError> {
    let length = |file: &File| file.metadata().map(|meta| meta.len()).ok();
    Ok(length(one) == length(other) && hash_file(one, options)? == hash_file(other, options)?)
}

/// Returns the SHA-256 of the facts about a tree in hexadecimal: the path, the kind, all permissions and the time of
/// the last change of every entry. Directories with nothing in them count; the root itself and content do not.
pub fn hash_of_facts(root: &Dir, options: &Options<'_>) -> Result<String, TreeError> {
    let mut hasher = Sha256::new();
    walk(root, options, &mut |entry, meta| {
        add_facts(&mut hasher, entry.path, meta);
        Ok(Visit::Continue)
    })?;
    Ok(hexadecimal(&hasher.finalize()))
}

/// Returns the identity of a file, or of a directory with everything in it: a hash of names, permissions and times.
/// It changes whenever anything there does, and reading it takes no content. The kernel sets the time of the last change
/// with every write, rename and `chmod`, and nobody but the superuser can set it back.
pub fn identity(place: impl AsRef<Path>) -> Result<String, TreeError> {
    let place = place.as_ref();
    let above = Dir::open_parent(place.parent().unwrap_or(place))?;
    let missing = || TreeError::io(place, io::ErrorKind::NotFound);
    let meta = above.meta_at(place.file_name().unwrap_or_default())?;
    let meta = meta.ok_or_else(missing)?;
    let is_superuser = geteuid().is_root();
    let mut hasher = Sha256::new();
    add_identity(&mut hasher, Path::new(""), &meta);
    if meta.is_dir() {
        let root = Dir::open_no_link(place)?;
        walk(&root, &Options::reading(), &mut |entry, meta| {
            add_identity(&mut hasher, entry.path, meta);
            // Nobody changes what is in a closed directory without changing the directory first.
            let is_closed = meta.is_dir() && meta.permissions() & 0o500 != 0o500 && !is_superuser;
            Ok(if is_closed {
                Visit::Skip
            } else {
                Visit::Continue
            })
        })?;
    }
    Ok(hexadecimal(&hasher.finalize()))
}

fn add_identity(hasher: &mut Sha256, path: &Path, meta: &Meta) {
    add_facts(hasher, path, meta);
    hasher.update(meta.size.to_le_bytes());
    hasher.update(meta.changed.0.to_le_bytes());
    hasher.update(meta.changed.1.to_le_bytes());
    hasher.update(meta.inode.to_le_bytes());
}

fn add_facts(hasher: &mut Sha256, path: &Path, meta: &Meta) {
    add(hasher, path.as_os_str().as_bytes());
    hasher.update(meta.mode.to_le_bytes());
    hasher.update(meta.modified.0.to_le_bytes());
    hasher.update(meta.modified.1.to_le_bytes());
}

/// Adds bytes with their length, so that no two lists of texts look the same.
fn add(hasher: &mut Sha256, bytes: &[u8]) {
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}
