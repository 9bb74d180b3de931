//! Removing trees.

use std::io;
use std::path::Path;

use super::permissions::unlock;

/// Removes a file or a tree, also one with read-only directories, which module caches have.
pub fn remove(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            unlock(path);
            std::fs::remove_dir_all(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => std::fs::remove_file(path),
        other => other,
    }
}
