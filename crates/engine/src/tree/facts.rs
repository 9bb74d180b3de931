//! The hash of what a copy keeps of a tree beside its content.

use std::os::unix::ffi::OsStrExt;

use sha2::{Digest, Sha256};

use crate::tree::dir::Dir;
use crate::tree::error::TreeError;
use crate::tree::hash::hexadecimal;
use crate::tree::limits::Options;
use crate::tree::walk::{Visit, walk};

/// Returns the SHA-256 of the facts about a tree in hexadecimal: the path, the kind, all permissions and the time of
/// the last change of every entry. Directories with nothing in them count; the root itself and content do not.
pub fn hash_of_facts(root: &Dir, options: &Options<'_>) -> Result<String, TreeError> {
    let mut hasher = Sha256::new();
    walk(root, options, &mut |entry, meta| {
        let path = entry.path.as_os_str().as_bytes();
        hasher.update((path.len() as u64).to_le_bytes());
        hasher.update(path);
        hasher.update(meta.mode.to_le_bytes());
        hasher.update(meta.modified.0.to_le_bytes());
        hasher.update(meta.modified.1.to_le_bytes());
        Ok(Visit::Continue)
    })?;
    Ok(hexadecimal(&hasher.finalize()))
}
