//! Moving trees.

use std::io;
use std::path::Path;

use fs_err as fs;

use super::copy::copy_tree;
use super::remove::remove;

/// Moves a directory, across file systems if need be.
pub fn move_dir(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let from = from.as_ref();
    let to = to.as_ref();
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            fs::create_dir(to)?;
            copy_tree(from, to)?;
            remove(from)
        }
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!(
                "{} could not be moved to {}: {error}",
                from.display(),
                to.display()
            ),
        )),
        Ok(()) => Ok(()),
    }
}
