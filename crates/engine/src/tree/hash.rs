//! The hash of a tree.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use sha2::{Digest, Sha256};

use crate::tree::content::{ContentError, next_data, read_at};
use crate::tree::cursor::{Cursor, Order, Step};
use crate::tree::dir::Dir;
use crate::tree::error::TreeError;
use crate::tree::limits::Options;
use crate::tree::meta::{Kind, Meta};
use crate::tree::os;

/// Files are hashed in blocks of this length, and blocks of zeros only by being left out. So the hash of a file
/// does not tell holes from zeros, and takes no time for them.
const BLOCK: u64 = 64 << 10;

/// Returns the SHA-256 of a tree in hexadecimal. It depends on names, kinds, contents, the text of links and the
/// right to execute. Directories count by what is in them, so that an empty one does not, and a mount point has
/// no content.
pub fn hash(root: &Dir, options: &Options<'_>) -> Result<String, TreeError> {
    let mut hasher = Sha256::new();
    let mut cursor = Cursor::new(root, options, Order::ByName)?;
    let mut buffer = Vec::new();
    loop {
        match cursor.step()? {
            Step::Done => return Ok(hexadecimal(&hasher.finalize())),
            Step::End => cursor.leave()?,
            Step::Entry => {
                let Some(meta) = cursor.meta()? else {
                    continue;
                };
                let is_mount = meta.is_mount_in(cursor.here().meta());
                if meta.is_dir() {
                    if !is_mount {
                        cursor.enter()?;
                    }
                    continue;
                }
                add(&mut hasher, cursor.path().as_os_str().as_bytes());
                hasher.update([u8::from(meta.permissions() & 0o111 != 0)]);
                match meta.kind {
                    Kind::File if !is_mount => {
                        let file = match cursor.entry(meta.kind).open() {
                            // Old kernels tell a mount only now.
                            Err(TreeError::MountPoint { .. }) => {
                                hasher.update(b"s");
                                continue;
                            }
                            answer => answer?,
                        };
                        cursor.budget.take_bytes(meta.allocated.min(meta.size))?;
                        hasher.update(b"f");
                        let hash = hash_content(&file, &meta, options, &mut buffer);
                        let hash = hash.map_err(|error| match error {
                            ContentError::Own(error) => error,
                            ContentError::System(error) => cursor.fails(error),
                        })?;
                        hasher.update(hash);
                    }
                    Kind::Link => {
                        hasher.update(b"l");
                        let text = cursor.entry(meta.kind).read_link()?;
                        add(&mut hasher, text.as_os_str().as_bytes());
                    }
                    _ => hasher.update(b"s"),
                }
            }
        }
    }
}

/// Returns the hash of one open file in hexadecimal, without its name and permissions.
pub fn hash_file(file: &File, options: &Options<'_>) -> Result<String, TreeError> {
    let meta = os::meta_of(file.as_fd()).map_err(|errno| TreeError::io("", errno))?;
    match hash_content(file, &meta, options, &mut Vec::new()) {
        Ok(hash) => Ok(hexadecimal(&hash)),
        Err(ContentError::Own(error)) => Err(error),
        Err(ContentError::System(error)) => Err(TreeError::io("", error)),
    }
}

fn hash_content(
    file: &File,
    meta: &Meta,
    options: &Options<'_>,
    buffer: &mut Vec<u8>,
) -> Result<[u8; 32], ContentError> {
    let mut hasher = Sha256::new();
    hasher.update(meta.size.to_le_bytes());
    buffer.resize(BLOCK as usize, 0);
    let mut offset = 0;
    while let Some((start, end)) = next_data(file, offset, meta.size)? {
        // Blocks begin at multiples of their length, wherever the data does.
        offset = (start - start % BLOCK).max(offset);
        while offset < end {
            options.check_stop()?;
            let length = (meta.size - offset).min(BLOCK) as usize;
            let block = &mut buffer[..length];
            let read = read_at(file, block, offset)?;
            let block = &block[..read];
            if block.iter().any(|byte| *byte != 0) {
                hasher.update(offset.to_le_bytes());
                hasher.update(block);
            }
            offset += BLOCK;
        }
    }
    Ok(hasher.finalize().into())
}

/// Adds bytes with their length, so that no two lists of texts look the same.
fn add(hasher: &mut Sha256, bytes: &[u8]) {
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

pub(super) fn hexadecimal(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
