//! Following paths into a workspace that may have links.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::tree::{Dir, TreeError};

/// The most links that are followed on one path, as in the kernel.
const MOST_LINKS: usize = 40;

/// A workspace: the path by which programs of its trial know it, and the one by which Terca reaches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    path: PathBuf,
    here: PathBuf,
}

/// The end of a path in a workspace, once its symbolic links are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Followed {
    /// An entry of the workspace, by a path without links.
    Inside(PathBuf),
    /// A place outside of the workspace.
    Outside,
    /// Nothing.
    Nowhere,
}

impl Workspace {
    /// Describes a workspace that is known by one path and reached by another.
    pub fn new(path: impl AsRef<Path>, here: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Workspace {
            path: std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
            here: here.as_ref().to_owned(),
        }
    }

    /// Opens the workspace.
    pub fn open(&self) -> Result<Dir, TreeError> {
        Dir::open_no_link(&self.here)
    }

    /// Returns whether a path stays inside once its symbolic links are followed. What is missing will be made as plain
    /// directories.
    pub fn stays_inside(&self, path: impl AsRef<Path>) -> bool {
        self.end(path.as_ref())
            .is_ok_and(|(place, _)| place.starts_with(&self.path))
    }

    /// Follows the links of a path. Nothing is opened on the way.
    pub fn follow(&self, path: impl AsRef<Path>) -> io::Result<Followed> {
        let (place, missing) = self.end(path.as_ref())?;
        Ok(match place.strip_prefix(&self.path) {
            _ if missing > 0 => Followed::Nowhere,
            Ok(inside) => Followed::Inside(inside.to_owned()),
            Err(_) => Followed::Outside,
        })
    }

    /// Returns the way to a path of the trial's programs.
    fn way_to(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.path) {
            Ok(inside) => self.here.join(inside),
            Err(_) => path.to_owned(),
        }
    }

    /// Returns the place that a path leads to, and the number of its names that are not there.
    fn end(&self, path: &Path) -> io::Result<(PathBuf, usize)> {
        let mut place = self.path.clone();
        let mut missing: usize = 0;
        let mut links = 0;
        let mut rest: Vec<PathBuf> = path.iter().rev().map(PathBuf::from).collect();
        while let Some(name) = rest.pop() {
            match name.components().next() {
                Some(Component::RootDir) => {
                    place = name;
                    continue;
                }
                Some(Component::ParentDir) => {
                    missing = missing.saturating_sub(1);
                    place.pop();
                    continue;
                }
                Some(Component::Normal(_)) if missing > 0 => {
                    missing += 1;
                    place.push(name);
                    continue;
                }
                Some(Component::Normal(_)) => place.push(name),
                _ => continue,
            }
            let way = self.way_to(&place);
            match std::fs::symlink_metadata(&way) {
                Ok(meta) if meta.is_symlink() => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(io::Error::from(rustix::io::Errno::LOOP));
                    }
                    let target = std::fs::read_link(&way)?;
                    place.pop();
                    rest.extend(target.iter().rev().map(PathBuf::from));
                }
                Ok(meta) if !meta.is_dir() && !rest.is_empty() => {
                    return Err(io::ErrorKind::NotADirectory.into());
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => missing = 1,
                Err(error) => return Err(error),
            }
        }
        Ok((place, missing))
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
            let workspace = Workspace::new(&root, &root);
            assert_eq!(workspace.stays_inside(path), inside, "{path}");
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
        let workspace = Workspace::new(&root, &root);
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
            assert_eq!(&workspace.follow(path).unwrap(), end, "{path}");
        }
        assert!(workspace.follow("loop").is_err());
        assert!(workspace.follow("real/file/beyond").is_err());
    }

    #[test]
    fn a_workspace_is_reached_by_another_path() {
        let dir = tempfile::tempdir().unwrap();
        let [path, here] = ["path", "here"].map(|name| dir.path().join(name));
        fs_err::create_dir_all(&path).unwrap();
        fs_err::create_dir_all(here.join("real")).unwrap();
        fs_err::write(here.join("real/file"), "").unwrap();
        let known = std::fs::canonicalize(&path).unwrap();
        symlink(known.join("real"), here.join("whole")).unwrap();
        symlink(&here, here.join("other")).unwrap();
        let workspace = Workspace::new(&path, &here);
        let file = Followed::Inside("real/file".into());
        assert_eq!(workspace.follow("whole/file").unwrap(), file);
        assert_eq!(workspace.follow("../path/real/file").unwrap(), file);
        assert_eq!(workspace.follow("other").unwrap(), Followed::Outside);
    }
}
