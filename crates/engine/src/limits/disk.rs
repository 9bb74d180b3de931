//! The disk space of an agent's directories, while it works.

use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::nameless;
use super::watched_dir::WatchedDir;
use crate::tree::{Dir, Limits, Options, TreeError, What, measure};

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(500);
/// A walk through the directories takes no more than this part of the time.
const SHARE: u32 = 10;

/// Looks at directories, and finds one that takes too much.
///
/// A walk through a workspace is dear, and a question to the file system is not: as long as that has not grown by the
/// limit since the agent started, no directory can have.
#[derive(Debug)]
pub(super) struct DiskWatch {
    limit: u64,
    dirs: Vec<WatchedDir>,
    /// The bytes that the file system had in use at the start.
    used_before: Option<u64>,
    next_look: Instant,
}

impl DiskWatch {
    pub(super) fn new(limit: u64, dirs: Vec<WatchedDir>) -> Self {
        let mut watch = DiskWatch {
            limit,
            dirs,
            used_before: None,
            next_look: Instant::now(),
        };
        watch.used_before = watch.used();
        watch
    }

    /// Returns the bytes in use on the file system of the directories.
    fn used(&self) -> Option<u64> {
        let first = self.dirs.first()?;
        let system = rustix::fs::statvfs(first.dir.as_std_path()).ok()?;
        let blocks = system.f_blocks.checked_sub(system.f_bfree)?;
        blocks.checked_mul(system.f_frsize)
    }

    /// Returns the name of a directory that takes more than the limit, if it is time to look. Files without a name that
    /// `root` and its descendants have open count together.
    pub(super) fn find_too_large(&mut self, root: Option<Pid>) -> Option<&'static str> {
        let now = Instant::now();
        if self.dirs.is_empty() || now < self.next_look {
            return None;
        }
        self.next_look = now + PAUSE;
        let grown = self.used()?.saturating_sub(self.used_before?);
        if grown < self.limit {
            return None;
        }
        let found = self.walk().or_else(|| {
            let bytes = nameless::of_tree(root?, &self.dirs);
            (bytes > self.limit).then_some("removed files")
        });
        self.next_look = now + PAUSE.max(now.elapsed() * SHARE);
        found
    }

    fn walk(&self) -> Option<&'static str> {
        let options = Options {
            limits: Limits {
                bytes: self.limit,
                ..Limits::NONE
            },
            unlock: false,
            ..Options::default()
        };
        for WatchedDir { name, dir, .. } in &self.dirs {
            // What cannot be measured while the agent works is measured when it has ended.
            let Ok(dir) = Dir::open_no_link(dir) else {
                continue;
            };
            let measured = measure(&dir, &options);
            if let Err(TreeError::TooLarge {
                what: What::Bytes, ..
            }) = measured
            {
                return Some(name);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    fn dir_with(bytes: usize) -> (tempfile::TempDir, Utf8PathBuf) {
        let temporary = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(temporary.path().to_owned()).unwrap();
        fs_err::write(path.join("file"), vec![b'x'; bytes]).unwrap();
        (temporary, path)
    }

    #[test]
    fn a_directory_beyond_the_limit_is_named() {
        let (_small_dir, small) = dir_with(10);
        let (_large_dir, large) = dir_with(2_000_000);
        let mut watch = DiskWatch::new(
            1_000_000,
            vec![
                WatchedDir::new("home", small),
                WatchedDir::new("workspace", large),
            ],
        );
        watch.used_before = Some(0);
        assert_eq!(watch.find_too_large(None), Some("workspace"));
        // It is not time to look again.
        assert_eq!(watch.find_too_large(None), None);
    }

    #[test]
    fn nothing_is_walked_through_before_the_file_system_has_grown() {
        let (_dir, large) = dir_with(2_000_000);
        let mut watch = DiskWatch::new(1_000_000, vec![WatchedDir::new("workspace", large)]);
        watch.used_before = Some(u64::MAX);
        assert_eq!(watch.find_too_large(None), None);
    }
}
