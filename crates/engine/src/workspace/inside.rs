//! Following paths into a workspace that may have links.

use std::path::Path;

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
}
