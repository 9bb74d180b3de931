//! Permissions that would keep Terca from reading, copying or removing a tree.

use std::fs::{Metadata, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fs_err as fs;

use super::walk::sorted_names;

/// Gives the owner back the permissions that reading, copying and moving a tree need. The superuser needs none.
pub fn make_readable(root: &Path) -> io::Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let meta = fs::symlink_metadata(root)?;
    if meta.is_dir() {
        make_writable(root, &meta)?;
        for name in sorted_names(root)? {
            make_readable(&root.join(name))?;
        }
    } else if meta.is_file() && meta.permissions().mode() & 0o400 == 0 {
        let mode = meta.permissions().mode() | 0o400;
        fs::set_permissions(root, Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Lets the owner list and change a directory.
pub(super) fn make_writable(dir: &Path, meta: &Metadata) -> io::Result<()> {
    let mode = meta.permissions().mode();
    if mode & 0o700 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(dir, Permissions::from_mode(mode | 0o700))
}

/// Makes every directory of a tree writable, as far as that is possible.
pub(super) fn unlock(dir: &Path) {
    let Ok(meta) = std::fs::symlink_metadata(dir) else {
        return;
    };
    if !meta.is_dir() || make_writable(dir, &meta).is_err() {
        return;
    }
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        unlock(&entry.path());
    }
}
