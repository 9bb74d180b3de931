//! Lists the files that a glob of a suite may mean.

use camino::{Utf8Path, Utf8PathBuf};

/// Directories that are never looked into: a suite does not mean them, and they are large.
const NOT_SEARCHED: [&str; 3] = [".git", ".terca", "node_modules"];
/// No library has more; a suite in `/` must not read the whole disk.
const MOST: usize = 100_000;

/// Returns the files below a directory, sorted. Links are not followed; names that are not UTF-8 are left out.
pub(super) fn files_below(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut unseen = vec![dir.to_owned()];
    while let Some(dir) = unseen.pop() {
        for entry in dir.read_dir_utf8().into_iter().flatten().flatten() {
            if found.len() + unseen.len() >= MOST {
                break;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !NOT_SEARCHED.contains(&entry.file_name()) => {
                    unseen.push(entry.into_path());
                }
                Ok(kind) if kind.is_file() => found.push(entry.into_path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
