//! A path, followed from its root as the kernel follows it.

use std::fs::Metadata;
use std::io;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// The most links in one path: as many as the kernel follows.
const MOST_LINKS: usize = 40;

/// Follows an absolute path, and looks at each directory, file and link on the way. Returns the path without links and
/// `..`.
pub fn follow(
    path: &Utf8Path,
    mut look: impl FnMut(&Utf8Path, &Metadata) -> io::Result<()>,
) -> io::Result<Utf8PathBuf> {
    let mut real = Utf8PathBuf::new();
    let mut rest = path.to_owned();
    for _ in 0..=MOST_LINKS {
        let mut parts = rest.components();
        let after_link = loop {
            match parts.next() {
                None => return Ok(real),
                Some(Utf8Component::ParentDir) => {
                    real.pop();
                }
                Some(part) => real.push(part),
            }
            let found = fs_err::symlink_metadata(&real)?;
            look(&real, &found)?;
            if found.is_symlink() {
                break real.read_link_utf8()?.join(parts.as_path());
            }
        };
        real.pop();
        rest = after_link;
    }
    Err(io::Error::other(format!("{path} has too many links")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_followed_as_the_kernel_does() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap();
        fs_err::create_dir_all(root.join("a/b/c")).unwrap();
        symlink("a/b", root.join("link")).unwrap();
        symlink(root.join("link/.."), root.join("absolute")).unwrap();
        symlink("round", root.join("round")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        for path in [
            "a/b/c", "a/../a/./b", "link", "link/c", "link/..", "link/../b/c/../..", "absolute/b",
            "/..", "round", "dangling", "dangling/..", "missing/..",
        ] {
            let path = root.join(path);
            let known = path.canonicalize_utf8();
            let followed = follow(&path, |_, _| Ok(()));
            assert_eq!(followed.ok(), known.ok(), "{path}");
        }
        let mut seen = Vec::new();
        let look = |path: &Utf8Path, _: &Metadata| {
            seen.extend(path.strip_prefix(&root).map(ToString::to_string));
            Ok(())
        };
        follow(&root.join("absolute"), look).unwrap();
        seen.retain(|path| !path.is_empty());
        assert_eq!(seen, ["absolute", "link", "a", "a/b", "a"]);
    }
}
