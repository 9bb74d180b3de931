//! The identity of a tree: it changes whenever anything in the tree does, and reading it takes no content.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::geteuid;
use sha2::{Digest, Sha256};

use crate::tree::dir::Dir;
use crate::tree::error::TreeError;
use crate::tree::limits::{Limits, Options};
use crate::tree::meta::Meta;
use crate::tree::walk::{Visit, walk};

/// A hash of names, file numbers, sizes, permissions and times. The kernel sets the time of the last change with every
/// write, rename and `chmod`, and nobody but the superuser can set it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity([u8; 32]);

/// Returns the identity of a directory with everything in it.
pub fn identity(root: &Dir) -> Result<Identity, TreeError> {
    let is_superuser = geteuid().is_root();
    let mut hasher = Sha256::new();
    add(&mut hasher, Path::new(""), root.meta());
    let options = Options {
        limits: Limits::NONE,
        unlock: false,
        ..Options::default()
    };
    walk(root, &options, &mut |entry, meta| {
        add(&mut hasher, entry.path, meta);
        // Nobody changes what is in a closed directory without changing the directory first.
        let is_closed = meta.is_dir() && meta.permissions() & 0o500 != 0o500 && !is_superuser;
        Ok(if is_closed {
            Visit::Skip
        } else {
            Visit::Continue
        })
    })?;
    Ok(Identity(hasher.finalize().into()))
}

/// Returns the identity of some entries of a directory, without what is in them. One that is missing has none.
pub fn identity_of<P: AsRef<Path>>(
    dir: &Dir,
    names: impl IntoIterator<Item = P>,
) -> Result<Identity, TreeError> {
    let mut hasher = Sha256::new();
    for name in names {
        if let Some(meta) = dir.meta_at(&name)? {
            add(&mut hasher, name.as_ref(), &meta);
        }
    }
    Ok(Identity(hasher.finalize().into()))
}

fn add(hasher: &mut Sha256, path: &Path, meta: &Meta) {
    let path = path.as_os_str().as_bytes();
    hasher.update((path.len() as u64).to_le_bytes());
    hasher.update(path);
    hasher.update(meta.mode.to_le_bytes());
    hasher.update(meta.owner.to_le_bytes());
    hasher.update(meta.size.to_le_bytes());
    for (seconds, nanoseconds) in [meta.modified, meta.changed] {
        hasher.update(seconds.to_le_bytes());
        hasher.update(nanoseconds.to_le_bytes());
    }
    hasher.update(meta.device.to_le_bytes());
    hasher.update(meta.inode.to_le_bytes());
}
