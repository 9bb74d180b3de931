//! Hashes of files, and of trees with names, kinds, permissions and links.

use std::collections::HashMap;
use std::fmt::Write;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::delivery::sha256;

use crate::workspace::tree;

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
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hash) = known.get(path) {
            return hash.clone();
        }
        let hash = hash(path.as_std_path())
            .unwrap_or_else(|error| format!("unreadable: {}", error.kind()));
        known.insert(path.to_owned(), hash.clone());
        hash
    }

    /// Returns the hash of a file; `None` if it was not there when it was asked for first.
    pub fn file(&self, path: &Utf8Path) -> Option<String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let is_file = *files
            .entry(path.to_owned())
            .or_insert_with(|| path.is_file());
        is_file.then(|| self.get(path))
    }
}

fn hash(path: &Path) -> io::Result<String> {
    if !path.is_dir() {
        return Ok(sha256(&fs_err::read(path)?));
    }
    let mut list = String::new();
    for (name, meta) in tree::walk(path)? {
        let place = path.join(&name);
        let content = if meta.is_symlink() {
            format!("-> {}", fs_err::read_link(&place)?.display())
        } else if meta.is_file() {
            sha256(&fs_err::read(&place)?)
        } else {
            "special".to_owned()
        };
        let executable = meta.permissions().mode() & 0o111 != 0;
        // Writing to text cannot fail.
        let _ = writeln!(list, "{:?} {executable} {content}", name.as_os_str());
    }
    Ok(sha256(list.as_bytes()))
}

#[cfg(test)]
mod tests {
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
