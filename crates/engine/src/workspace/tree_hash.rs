//! Hashes of files and trees, each looked at once.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;

use camino::{Utf8Path, Utf8PathBuf};

use crate::locked;
use crate::tree::{Dir, Options, hash, hash_file};

/// The hashes of files and trees. Each path is looked at once: a command of a trial may change it later.
#[derive(Debug, Default)]
pub struct TreeHashes {
    known: Mutex<HashMap<Utf8PathBuf, String>>,
    files: Mutex<HashMap<Utf8PathBuf, bool>>,
}

impl TreeHashes {
    /// Returns the hash of a file or a tree. A path that cannot be read has a hash too: the trial that needs it will
    /// report the error.
    pub fn get(&self, path: &Utf8Path) -> String {
        let mut known = locked(&self.known);
        if let Some(hash) = known.get(path) {
            return hash.clone();
        }
        let hash = hash_of(path).unwrap_or_else(|error| format!("unreadable: {}", error.kind()));
        known.insert(path.to_owned(), hash.clone());
        hash
    }

    /// Takes note of a hash that is known already.
    pub fn know(&self, path: &Utf8Path, hash: &str) {
        locked(&self.known).insert(path.to_owned(), hash.to_owned());
    }

    /// Returns the hash of a file; `None` if it was not there when it was asked for first.
    pub fn file(&self, path: &Utf8Path) -> Option<String> {
        let mut files = locked(&self.files);
        let is_file = *files
            .entry(path.to_owned())
            .or_insert_with(|| path.is_file());
        is_file.then(|| self.get(path))
    }
}

fn hash_of(path: &Utf8Path) -> io::Result<String> {
    // A suite is its author's, however large it is, and several trials may read it at once.
    let options = Options::reading();
    let kind = fs_err::metadata(path)?.file_type();
    if kind.is_dir() {
        return Ok(hash(&Dir::open(path)?, &options)?);
    }
    if !kind.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(hash_file(fs_err::File::open(path)?.file(), &options)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn everything_that_matters_changes_the_hash() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(temporary.path()).unwrap();
        let mut seen = Vec::new();
        let mut note = || {
            let hash = TreeHashes::default().get(dir);
            assert!(!seen.contains(&hash), "{hash}");
            seen.push(hash);
        };
        note();
        fs_err::write(dir.join("a"), "1").unwrap();
        note();
        fs_err::write(dir.join("a"), "2").unwrap();
        note();
        fs_err::set_permissions(dir.join("a"), std::fs::Permissions::from_mode(0o755)).unwrap();
        note();
        fs_err::rename(dir.join("a"), dir.join("b")).unwrap();
        note();
        fs_err::os::unix::fs::symlink("b", dir.join("c")).unwrap();
        note();
        let hashes = TreeHashes::default();
        let before = hashes.get(&dir.join("b"));
        fs_err::write(dir.join("b"), "3").unwrap();
        assert_eq!(hashes.get(&dir.join("b")), before, "each path is read once");
        assert_ne!(TreeHashes::default().get(&dir.join("b")), before);
        assert_eq!(hashes.file(&dir.join("b")), Some(before));
        assert_eq!(hashes.file(&dir.join("later")), None);
        fs_err::write(dir.join("later"), "").unwrap();
        assert_eq!(hashes.file(&dir.join("later")), None, "asked for once");
    }
}
