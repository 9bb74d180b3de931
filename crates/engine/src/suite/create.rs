//! Writes the files of a new suite or eval. Existing files are never touched.

use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use fs_err::os::unix::fs::OpenOptionsExt;
use terca_core::new_suite::scaffold::NewFile;

use crate::suite::discover::SUITE_FILE;
use crate::tree::{Options, remove};

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
        new_file(&dir.join(&file.path), file.content.as_bytes(), 0o666)?;
    }
    Ok(())
}

/// Removes files that were made, and the directories that are empty then.
pub fn remove_made(dir: &Utf8Path, files: &[NewFile]) -> io::Result<()> {
    for file in files {
        let path = dir.join(&file.path);
        fs_err::remove_file(&path)?;
        let above = path.ancestors().skip(1);
        for dir in above.take_while(|above| above.starts_with(dir)) {
            if fs_err::remove_dir(dir).is_err() {
                break;
            }
        }
    }
    Ok(())
}

/// Makes a file, and the directories it is in. A file that is there is not overwritten.
pub(crate) fn new_file(path: &Utf8Path, content: &[u8], mode: u32) -> io::Result<()> {
    fs_err::create_dir_all(path.parent().unwrap_or(path))?;
    let mut options = fs_err::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(content)
}

/// Makes a directory in another one. It is there only when it is whole.
pub(crate) fn whole_dir(
    within: &Utf8Path,
    name: &str,
    fill: impl FnOnce(&Utf8Path) -> io::Result<()>,
) -> io::Result<()> {
    // Hidden, so that nobody takes what is not finished for an eval. Short, since a name may be as long as a name can be.
    let unfinished = within.join(format!(".unfinished-{:016x}", fastrand::u64(..)));
    fs_err::create_dir_all(&unfinished)?;
    let dir = within.join(name);
    let made = fill(&unfinished).and_then(|()| {
        fs_err::create_dir_all(dir.parent().unwrap_or(within))?;
        fs_err::rename(&unfinished, &dir)
    });
    if made.is_err() {
        let _ = remove(&unfinished, &Options::default());
    }
    made
}
