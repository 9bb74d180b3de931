//! Writes the files of a new suite or eval. Existing files are never touched.

use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::new_suite::scaffold::NewFile;

use crate::suite::discover::SUITE_FILE;

/// Returns the directory of the suite around a directory: the nearest one, upwards, that has a `terca.yaml`.
pub fn suite_around(dir: &Utf8Path) -> Option<&Utf8Path> {
    dir.ancestors().find(|dir| dir.join(SUITE_FILE).is_file())
}

/// Returns the top-level files and directories of a new suite. None of them may exist: nothing is put into a
/// directory that was made for something else.
pub fn parts(dir: &Utf8Path, files: &[NewFile]) -> Vec<Utf8PathBuf> {
    let firsts = files
        .iter()
        .filter_map(|file| file.path.components().next());
    let mut parts: Vec<Utf8PathBuf> = firsts.map(|first| dir.join(first.as_str())).collect();
    parts.sort();
    parts.dedup();
    parts
}

/// Returns the paths that exist already, also as a broken link.
pub fn in_the_way(paths: Vec<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
    paths
        .into_iter()
        .filter(|path| path.symlink_metadata().is_ok())
        .collect()
}

/// Makes the files, and the directories they are in.
pub fn write(dir: &Utf8Path, files: &[NewFile]) -> io::Result<()> {
    for file in files {
        let path = dir.join(&file.path);
        fs_err::create_dir_all(path.parent().unwrap_or(dir))?;
        // A file that was made in the meantime is not overwritten either.
        let mut new = fs_err::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?;
        new.write_all(file.content.as_bytes())?;
    }
    Ok(())
}
