//! Caches of package managers and compilers that are kept for all trials and later runs of a suite.
//!
//! They are linked into the home of commands that set a trial up, at the place where each program looks for them. The
//! links are gone before the agent starts: an agent could put its own packages there for others. Tests run what the agent
//! wrote, so they get a copy, which goes with the trial: what they write reaches no other grading.

use std::fs::File;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::package_cache::PackageCache;

use crate::tree::{Dir, Options, TreeError, copy, remove};
use crate::workspace::layers::cache_dir;

/// The directory of all downloads in the cache of a suite.
pub const PACKAGES: &str = "packages";

/// Returns the directories of caches, each with its place in a home.
pub fn stores(
    suite_dir: &Utf8Path,
    caches: &[PackageCache],
) -> impl Iterator<Item = (Utf8PathBuf, &'static str)> {
    let all = cache_dir(suite_dir).join(PACKAGES);
    let places = caches.iter().flat_map(|cache| cache.places());
    places.map(move |(name, place)| (all.join(name), *place))
}

/// Copies caches into the home of tests. A directory that is there already stays. Returns a line for each that could not be
/// copied, such as one that another trial is changing: tests do without it.
pub fn copy_into(
    home: &Utf8Path,
    caches: &[PackageCache],
    suite_dir: &Utf8Path,
    options: &Options<'_>,
) -> Result<Vec<String>, TreeError> {
    let mut left_out = Vec::new();
    for (store, place) in stores(suite_dir, caches) {
        let to = home.join(place);
        if to.symlink_metadata().is_ok() || !store.is_dir() {
            continue;
        }
        fs_err::create_dir_all(&to)?;
        let copied = Dir::open_no_link(&store)
            .and_then(|from| copy(&from, &Dir::open_no_link(&to)?, options, &mut |_| Ok(true)));
        match copied {
            Ok(_) => {}
            Err(TreeError::Stopped) => return Err(TreeError::Stopped),
            Err(error) => {
                left_out.push(format!(
                    "~/{place} is not there: it could not be copied: {error}"
                ));
                remove(&to, options)?.into_result(to.as_std_path())?;
            }
        }
    }
    Ok(left_out)
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
    for (store, place) in stores(suite_dir, caches) {
        let link = home.join(place);
        if link.symlink_metadata().is_ok() {
            continue;
        }
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
