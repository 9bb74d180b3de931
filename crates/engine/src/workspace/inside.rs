//! Following paths into a workspace that may have links.

use std::io;
use std::path::{Path, PathBuf};

/// Returns whether a path inside a directory stays inside once its symbolic links are followed.
pub fn stays_inside(root: impl AsRef<Path>, path: impl AsRef<Path>) -> bool {
    let Ok(root) = std::fs::canonicalize(root) else {
        return false;
    };
    // The deepest part that exists decides: the rest will be made as plain directories.
    let mut existing = root.join(path);
    while std::fs::symlink_metadata(&existing).is_err() {
        if !existing.pop() {
            return false;
        }
    }
    std::fs::canonicalize(&existing).is_ok_and(|real| real.starts_with(&root))
}

/// The end of a path in a directory, once its symbolic links are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Followed {
    /// An entry of the directory, by a path without links.
    Inside(PathBuf),
    /// A place outside of the directory.
    Outside,
    /// Nothing.
    Nowhere,
}

/// Follows the links of a path in a directory. Nothing is opened on the way.
pub fn follow(root: impl AsRef<Path>, path: impl AsRef<Path>) -> io::Result<Followed> {
    let root = std::fs::canonicalize(root)?;
    match std::fs::canonicalize(root.join(path)) {
        Ok(real) => Ok(match real.strip_prefix(&root) {
            Ok(inside) => Followed::Inside(inside.to_owned()),
            Err(_) => Followed::Outside,
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Followed::Nowhere),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_through_links_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs_err::create_dir_all(root.join("real")).unwrap();
        symlink("/etc", root.join("out")).unwrap();
        symlink("real", root.join("in")).unwrap();
        symlink("/nowhere/at/all", root.join("dangling")).unwrap();
        for (path, inside) in [
            ("a/b/c", true),
            ("real/x", true),
            ("in/x", true),
            ("out/x", false),
            ("out", false),
            ("dangling", false),
        ] {
            assert_eq!(stays_inside(&root, path), inside, "{path}");
        }
    }

    #[test]
    fn links_are_followed_to_their_end() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs_err::create_dir_all(root.join("real")).unwrap();
        fs_err::write(root.join("real/file"), "").unwrap();
        for (name, target) in [
            ("out", "/etc/passwd"),
            ("up", "../.."),
            ("again", "up"),
            ("in", "real"),
            ("round", "../root/real/file"),
            ("dangling", "nowhere"),
            ("loop", "loop"),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        symlink(root.join("real/file"), root.join("whole")).unwrap();
        let file = Followed::Inside("real/file".into());
        for (path, end) in [
            ("real/file", &file),
            ("in/file", &file),
            ("round", &file),
            ("whole", &file),
            ("out", &Followed::Outside),
            ("up", &Followed::Outside),
            ("again", &Followed::Outside),
            ("dangling", &Followed::Nowhere),
            ("missing/file", &Followed::Nowhere),
        ] {
            assert_eq!(&follow(&root, path).unwrap(), end, "{path}");
        }
        assert!(follow(&root, "loop").is_err());
    }
}
