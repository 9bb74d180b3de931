//! Listing trees, and following paths into them.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

/// Returns every entry below a directory that is not itself a directory: relative, sorted, with its metadata.
pub fn walk(root: impl AsRef<Path>) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let mut found = Vec::new();
    walk_into(root.as_ref(), Path::new(""), &mut found)?;
    Ok(found)
}

fn walk_into(root: &Path, below: &Path, found: &mut Vec<(PathBuf, Metadata)>) -> io::Result<()> {
    for name in sorted_names(&root.join(below))? {
        let path = below.join(name);
        let meta = fs::symlink_metadata(root.join(&path))?;
        if meta.is_dir() {
            walk_into(root, &path, found)?;
        } else {
            found.push((path, meta));
        }
    }
    Ok(())
}

/// Returns the names in a directory, sorted.
pub(super) fn sorted_names(dir: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        names.push(entry?.file_name());
    }
    names.sort_unstable();
    Ok(names)
}

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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_through_links_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("real")).unwrap();
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
}
