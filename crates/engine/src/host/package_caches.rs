//! Downloads of package managers that are kept for all trials and later runs of a suite.
//!
//! They are linked into the home of commands that set a trial up, at the place where each package manager looks for them.
//! The links are gone before the agent starts: an agent could put its own packages there for others.

use std::fs::File;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::package_cache::PackageCache;

use crate::workspace::layers::cache_dir;

/// The directory of all downloads in the cache of a suite.
pub const PACKAGES: &str = "packages";

/// Returns the directory of a package manager's downloads.
pub fn store(suite_dir: &Utf8Path, cache: PackageCache) -> Utf8PathBuf {
    cache_dir(suite_dir).join(PACKAGES).join(cache.name())
}

/// Links the downloads into a home. A directory that is there already stays.
pub fn place(
    caches: &[PackageCache],
    suite_dir: &Utf8Path,
    home: &Utf8Path,
) -> io::Result<PlacedFiles> {
    let mut placed = PlacedFiles::default();
    if caches.is_empty() {
        return Ok(placed);
    }
    let all = cache_dir(suite_dir).join(PACKAGES);
    fs_err::create_dir_all(&all)?;
    let lock = File::open(&all)?;
    // `terca clean` looks for it. Where directories cannot be locked, they may be removed while they are used: then they are
    // fetched again.
    placed.lock = lock.try_lock_shared().is_ok().then_some(lock);
    for cache in caches {
        let link = home.join(cache.place_in_home());
        if link.symlink_metadata().is_ok() {
            continue;
        }
        let store = store(suite_dir, *cache);
        fs_err::create_dir_all(&store)?;
        fs_err::create_dir_all(link.parent().unwrap_or(home))?;
        fs_err::os::unix::fs::symlink(&store, &link)?;
        placed.paths.push(link);
    }
    Ok(placed)
}

/// Files and links in a home. They are removed with the value.
#[derive(Debug, Default)]
pub struct PlacedFiles {
    pub(super) paths: Vec<Utf8PathBuf>,
    /// Keeps what they lead to from being removed meanwhile.
    pub(super) lock: Option<File>,
}

impl PlacedFiles {
    /// Removes them. A file that a command has changed is removed too: it still has what was in it. A directory that a
    /// command has put in its place stays.
    pub fn remove(mut self) -> io::Result<()> {
        self.remove_all()
    }

    fn remove_all(&mut self) -> io::Result<()> {
        use io::ErrorKind::{IsADirectory, NotFound};
        for path in self.paths.drain(..) {
            match fs_err::remove_file(path) {
                Err(error) if !matches!(error.kind(), IsADirectory | NotFound) => {
                    return Err(error);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for PlacedFiles {
    fn drop(&mut self) {
        let _ = self.remove_all();
    }
}
