//! `.terca/cache`: layers that `prepare` has made, kept for all trials and later runs.
//!
//! The files of a layer are among the layers of the suite (`base_layers`), and `KEY.N/layer` has its name there. It is
//! made under a lock that one run alone holds, and gets its name when it is whole. A run that uses it holds it locked, so
//! that no other run removes it meanwhile. Made again (`--no-cache`), it gets the next number, and the older one is
//! removed when it is no longer used.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8DirEntry, Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use crate::locked;
use crate::process::interrupt::Interrupt;
use crate::tree::{Options, TreeError};
use crate::workspace::base_layers::{BaseLayer, BaseLayers, content_hash_in};
use crate::workspace::own_dirs::remove_and_tell;
use crate::workspace::stale_dirs;

/// The time between two attempts to get a lock that another run holds.
const GLANCE: Duration = Duration::from_millis(100);
/// The file with the name of a layer.
const LAYER: &str = "layer";

/// The beginning of the names of layers that evals share.
pub const SHARED: &str = "shared-";

/// The layers of one suite that one run uses.
#[derive(Debug)]
pub struct LayerCache {
    dir: Utf8PathBuf,
    /// The files of the layers.
    files: Arc<BaseLayers>,
    /// Layers that were made before this run are not used.
    anew: bool,
    known: Mutex<HashMap<String, Entry>>,
}

type Entry = Arc<Mutex<Option<Result<Held, LastingError>>>>;

/// The error of a layer that no trial can make.
#[derive(Debug, Clone)]
pub struct LastingError {
    /// The reason.
    pub message: String,
    /// What the log of the trial says that tried to make it.
    pub log: String,
}

/// A layer that is in use for as long as this lives.
#[derive(Debug)]
struct Held {
    tree: Utf8PathBuf,
    _lock: Option<File>,
}

/// Returns the directory of a suite's layers.
pub fn cache_dir(suite_dir: &Utf8Path) -> Utf8PathBuf {
    suite_dir.join(".terca/cache")
}

impl LayerCache {
    /// Opens the cache of a suite, whose layers have their files there. With `anew`, layers of earlier runs are not used.
    pub fn new(suite_dir: &Utf8Path, files: Arc<BaseLayers>, anew: bool) -> Self {
        LayerCache {
            dir: cache_dir(suite_dir),
            files,
            anew,
            known: Mutex::default(),
        }
    }

    /// Returns the time at which a layer was made that an earlier run has left and that this run will use.
    pub fn made_at(&self, key: &str) -> Option<Timestamp> {
        let number = self.latest(key).filter(|_| !self.anew)?;
        let place = self.dir.join(format!("{key}.{number}"));
        let changed = fs_err::metadata(place).and_then(|meta| meta.modified());
        Timestamp::try_from(changed.ok()?).ok()
    }

    /// Returns the tree of a layer, made if need be by one trial of one run, while all others wait. `make` puts it
    /// into an empty directory. An error that `lasting` gives a reason for is the answer for the rest of the run.
    pub fn get<E: From<io::Error> + From<TreeError>>(
        &self,
        key: &str,
        interrupt: &Interrupt,
        make: impl FnOnce(&Utf8Path) -> Result<(), E>,
        lasting: impl FnOnce(&E) -> Option<LastingError>,
        failed: impl FnOnce(LastingError) -> E,
    ) -> Result<Utf8PathBuf, E> {
        let entry = locked(&self.known)
            .entry(key.to_owned())
            .or_default()
            .clone();
        let mut entry = locked(&entry);
        match &*entry {
            Some(Ok(held)) => return Ok(held.tree.clone()),
            Some(Err(reason)) => return Err(failed(reason.clone())),
            None => {}
        }
        let mut reason = None;
        let make = |tree: &Utf8Path| make(tree).inspect_err(|error| reason = lasting(error));
        match self.open_or_make(key, interrupt, make) {
            Ok(held) => {
                let tree = held.tree.clone();
                *entry = Some(Ok(held));
                Ok(tree)
            }
            Err(error) => {
                *entry = reason.map(Err);
                Err(error)
            }
        }
    }

    fn open_or_make<E: From<io::Error> + From<TreeError>>(
        &self,
        key: &str,
        interrupt: &Interrupt,
        make: impl FnOnce(&Utf8Path) -> Result<(), E>,
    ) -> Result<Held, E> {
        fs_err::create_dir_all(&self.dir)?;
        let _making = wait_for_turn(&self.dir.join(format!("{key}.lock")), interrupt)?;
        let options = Options {
            should_stop: interrupt,
            ..Options::reading()
        };
        let latest = self.latest(key);
        if let (false, Some(number)) = (self.anew, latest) {
            let place = self.dir.join(format!("{key}.{number}"));
            // One whose files are gone, or were changed, is made again.
            if let Some(layer) = self.find(&place, &options)? {
                return Ok(hold(&place, layer)?);
            }
        }
        stale_dirs::remove_drafts(&self.dir);
        let layer = self.files.fill(&options, make)?;
        let draft = stale_dirs::Draft::create(&self.dir, 0o700)?;
        fs_err::write(draft.path().join(LAYER), &layer.hash)?;
        let place = self.dir.join(format!("{key}.{}", latest.unwrap_or(0) + 1));
        draft.publish([place.clone()])?;
        if let Some(number) = latest {
            // An older one that is in use is removed by a later run.
            let _ = remove_unused(&self.dir.join(format!("{key}.{number}")));
        }
        Ok(hold(&place, layer)?)
    }

    /// Returns the files of a layer, if they are as they were made.
    fn find(
        &self,
        place: &Utf8Path,
        options: &Options<'_>,
    ) -> Result<Option<BaseLayer>, TreeError> {
        match layer_of(place) {
            Some(name) => self.files.find(&name, options),
            None => Ok(None),
        }
    }

    fn latest(&self, key: &str) -> Option<u32> {
        let entries = self.dir.read_dir_utf8().ok()?;
        entries
            .flatten()
            .filter_map(|entry| {
                entry
                    .file_name()
                    .strip_prefix(key)?
                    .strip_prefix('.')?
                    .parse()
                    .ok()
            })
            .max()
    }
}

/// Waits until no other run has this file locked, to make something that all runs use. It is then usually there.
pub fn wait_for_turn(file: &Utf8Path, interrupt: &Interrupt) -> io::Result<File> {
    let lock = File::create(file)?;
    while let Err(std::fs::TryLockError::WouldBlock) = lock.try_lock() {
        if interrupt.is_stop() {
            return Err(TreeError::Stopped.into());
        }
        std::thread::sleep(GLANCE);
    }
    Ok(lock)
}

/// Returns the name among the layers of the suite that a layer in the cache has.
fn layer_of(place: &Utf8Path) -> Option<String> {
    let name = fs_err::read_to_string(place.join(LAYER)).ok()?;
    content_hash_in(&name).is_some().then_some(name)
}

/// Returns the names among the layers of a suite that its cache uses.
pub fn layers_in_cache(suite_dir: &Utf8Path) -> Vec<String> {
    let places = places_in_cache(suite_dir);
    places.filter_map(|entry| layer_of(entry.path())).collect()
}

fn places_in_cache(suite_dir: &Utf8Path) -> impl Iterator<Item = Utf8DirEntry> {
    let entries = cache_dir(suite_dir).read_dir_utf8();
    entries.into_iter().flatten().flatten()
}

/// Removes the files of these layers, which nobody uses, except those that evals share.
pub fn remove_private(suite_dir: &Utf8Path, layers: &[BaseLayer]) {
    let places = places_in_cache(suite_dir);
    let shared = places.filter(|entry| entry.file_name().starts_with(SHARED));
    let shared: Vec<String> = shared.filter_map(|entry| layer_of(entry.path())).collect();
    for layer in layers.iter().filter(|layer| !shared.contains(&layer.hash)) {
        remove_and_tell(&layer.tree);
    }
}

fn hold(place: &Utf8Path, layer: BaseLayer) -> io::Result<Held> {
    let lock = File::open(place)?;
    // Where directories cannot be locked, another run may remove it while it is used.
    let lock = lock.try_lock_shared().is_ok().then_some(lock);
    Ok(Held {
        tree: layer.tree,
        _lock: lock,
    })
}

/// Removes a layer. Returns a line for each thing that could not be removed; `None` if the layer is in use, and not touched.
pub fn remove_unused(place: &Utf8Path) -> Option<Vec<String>> {
    match File::open(place) {
        Ok(lock) if lock.try_lock().is_ok() => Some(remove_and_tell(place)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Vec::new()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn suite() -> (tempfile::TempDir, Utf8PathBuf) {
        let guard = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        (guard, dir)
    }

    fn opened(dir: &Utf8Path, anew: bool) -> LayerCache {
        LayerCache::new(dir, Arc::new(BaseLayers::of_suite(dir)), anew)
    }

    fn get(cache: &LayerCache, made: &AtomicUsize) -> Utf8PathBuf {
        let make = |tree: &Utf8Path| {
            made.fetch_add(1, Ordering::SeqCst);
            fs_err::write(tree.join("file"), "x")
        };
        cache
            .get(
                "key",
                &Interrupt::new().unwrap(),
                make,
                |_| None,
                |error| io::Error::other(error.message),
            )
            .unwrap()
    }

    #[test]
    fn a_layer_is_made_once_by_whoever_comes_first() {
        let (_guard, dir) = suite();
        let made = AtomicUsize::new(0);
        // Two runs with eight trials each.
        let caches = [opened(&dir, false), opened(&dir, false)];
        std::thread::scope(|scope| {
            for n in 0..16 {
                let (cache, made) = (&caches[n % 2], &made);
                scope.spawn(move || assert!(get(cache, made).join("file").is_file()));
            }
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
        get(&opened(&dir, false), &made);
        assert_eq!(made.load(Ordering::SeqCst), 1, "a later run finds it");
    }

    #[test]
    fn made_anew_it_does_not_take_the_old_one_from_those_who_use_it() {
        let (_guard, dir) = suite();
        let made = AtomicUsize::new(0);
        let first = opened(&dir, false);
        let old = get(&first, &made);
        let second = opened(&dir, true);
        let new = get(&second, &made);
        assert_ne!(old, new);
        assert_eq!(get(&second, &made), new, "once in a run");
        assert_eq!(made.load(Ordering::SeqCst), 2);
        assert!(old.join("file").is_file(), "in use");
        drop(first);
        let third = get(&opened(&dir, true), &made);
        assert!(!new.exists() || third != new);
        let places = cache_dir(&dir);
        assert_eq!(remove_unused(&places.join("key.1")), Some(Vec::new()));
    }

    #[test]
    fn a_layer_whose_files_are_gone_or_changed_is_made_again() {
        let (_guard, dir) = suite();
        let made = AtomicUsize::new(0);
        for damage in ["rm -r", "echo y >"] {
            let tree = get(&opened(&dir, false), &made);
            let command = format!("{damage} {}", tree.join("file"));
            let done = std::process::Command::new("sh")
                .args(["-c", &command])
                .status();
            assert!(done.unwrap().success());
        }
        let tree = get(&opened(&dir, false), &made);
        assert!(tree.join("file").is_file());
        assert_eq!(made.load(Ordering::SeqCst), 3);
        assert_eq!(layers_in_cache(&dir), [tree.file_name().unwrap()]);
    }

    #[test]
    fn what_could_not_be_made_is_not_there() {
        let (_guard, dir) = suite();
        let cache = opened(&dir, false);
        let interrupt = Interrupt::new().unwrap();
        let fail = |tree: &Utf8Path| {
            fs_err::write(tree.join("half"), "x").unwrap();
            Err(io::Error::other("no network"))
        };
        let error = cache
            .get(
                "key",
                &interrupt,
                fail,
                |_| {
                    Some(LastingError {
                        message: "no network here".to_owned(),
                        log: "tried".to_owned(),
                    })
                },
                |error| io::Error::other(error.message),
            )
            .unwrap_err();
        assert_eq!(error.to_string(), "no network");
        // The others of the run hear of it without trying.
        let again = cache
            .get(
                "key",
                &interrupt,
                |_| Ok(()),
                |_| None,
                |error| io::Error::other(error.message + ": " + &error.log),
            )
            .unwrap_err();
        assert_eq!(again.to_string(), "no network here: tried");
        // The next run tries again.
        let made = AtomicUsize::new(0);
        let tree = get(&opened(&dir, false), &made);
        assert!(!tree.join("half").exists() && tree.join("file").is_file());
    }
}
