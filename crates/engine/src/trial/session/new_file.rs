//! Files that are made in the place of what an agent may have put there.

use std::fs::File;
use std::io;

use camino::Utf8Path;

/// Makes a file in the place of what has its name: a link there could lead anywhere.
pub(super) fn new_file(path: &Utf8Path) -> io::Result<File> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
}
