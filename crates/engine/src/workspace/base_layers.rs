//! `.terca/layers`: the directories that the trials of a suite start from, each kept once for all runs.
//!
//! A layer is a directory of the suite, or the tree of a cached `prepare` step, without the files that agents must not
//! see. It is in `layers/HASH`, so layers that are equal in everything that a copy keeps are one. It is made when a run
//! first needs it, as a draft beside the others, which the next run removes if this one is killed. Nothing writes to a
//! layer that has its name: workspaces are copies of it, or mounts over it. A run says by names which layers its saved
//! workspaces started from, and `terca clean` removes those that no run names. A run that came from elsewhere may have a
//! `layers` directory of its own.

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::locked;
use crate::tree::{
    Dir, Entry, Options, TreeError, Visit, copy, hash, hash_of_facts, remove, remove_at, walk,
};
use crate::workspace::own_dirs::{OWN, make_own_dir, remove_and_tell};
use crate::workspace::stale_dirs::{Draft, remove_drafts};

/// The directory of a suite with the layers of all its runs, and of a run with layers of its own.
pub const LAYERS: &str = "layers";
/// The directory in it with the runs.
const RUNS: &str = "runs";
/// The time between two attempts to get the lock that `terca clean` holds.
const GLANCE: Duration = Duration::from_millis(100);

/// The layers that the trials of a suite start from.
#[derive(Debug)]
pub struct BaseLayers {
    dir: Utf8PathBuf,
    suite_dir: Utf8PathBuf,
    known: Mutex<HashMap<Utf8PathBuf, Known>>,
    /// Keeps `terca clean` from removing layers meanwhile.
    opened: Mutex<Option<Opened>>,
}

/// A layer, once it is made. Whoever needs it first makes it, while the others wait.
type Known = Arc<Mutex<Option<BaseLayer>>>;

/// The directory of all layers, locked where directories can be locked.
#[derive(Debug)]
struct Opened {
    _lock: Option<File>,
}

/// A layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseLayer {
    /// Its name: the hash of its content, a hyphen, and the beginning of the hash of its permissions and times.
    pub hash: String,
    /// Its directory, which must not be changed.
    pub tree: Utf8PathBuf,
}

/// Returns the directory of the layers that all runs of a suite share.
pub fn layers_dir(suite_dir: &Utf8Path) -> Utf8PathBuf {
    suite_dir.join(OWN).join(LAYERS)
}

/// Returns the directory of the layers that a run shares with the others beside it. A run that was copied elsewhere alone
/// has none.
pub(crate) fn layers_beside(run_dir: &Path) -> Option<Utf8PathBuf> {
    let run_dir = Utf8PathBuf::from_path_buf(run_dir.canonicalize().ok()?).ok()?;
    let runs = run_dir.parent().filter(|dir| dir.ends_with(RUNS))?;
    Some(runs.with_file_name(LAYERS))
}

impl BaseLayers {
    /// Returns the layers that all runs of a suite share. Makes nothing yet: layers are made when they are needed.
    pub fn of_suite(suite_dir: &Utf8Path) -> Self {
        BaseLayers {
            dir: layers_dir(suite_dir),
            suite_dir: suite_dir.to_owned(),
            known: Mutex::default(),
            opened: Mutex::default(),
        }
    }

    /// Returns the layer that has the files of a directory, made if need be. A directory is looked at once in a run.
    /// `options` are for reading the directory, which other trials may read at the same time.
    pub fn get(&self, source: &Utf8Path, options: &Options<'_>) -> Result<BaseLayer, TreeError> {
        self.once(source, || self.make(source, options).map(Some))?
            .ok_or_else(|| TreeError::io(source, io::ErrorKind::NotFound))
    }

    /// Returns the layer of a directory, if it has all of its files.
    pub fn get_same(
        &self,
        source: &Utf8Path,
        options: &Options<'_>,
    ) -> Result<Option<BaseLayer>, TreeError> {
        if !hidden_in(&Dir::open(source)?, options)?.is_empty() {
            return Ok(None);
        }
        let layer = self.get(source, options)?;
        self.once(&layer.tree.clone(), || Ok(Some(layer)))
    }

    /// Returns the layer of a name, if its content is as it was made. It is looked at once in a run. Its times and
    /// permissions may be others: a cache of a CI service does not keep all of them.
    pub fn find(&self, name: &str, options: &Options<'_>) -> Result<Option<BaseLayer>, TreeError> {
        let layer = self.layer(name);
        self.once(&layer.tree.clone(), || {
            self.open(options)?;
            let found = match Dir::open_no_link(&layer.tree) {
                Err(error) if error.is_not_found() => None,
                tree => Some(hash(&tree?, options)?),
            };
            Ok((found.as_deref() == Some(layer.content_hash())).then_some(layer))
        })
    }

    /// Returns all layers that were looked at.
    pub fn all(&self) -> Vec<BaseLayer> {
        let known = locked(&self.known);
        known
            .values()
            .filter_map(|known| locked(known).clone())
            .collect()
    }

    /// Returns the layer of a directory that was looked at before, or looks at it.
    fn once(
        &self,
        source: &Utf8Path,
        look: impl FnOnce() -> Result<Option<BaseLayer>, TreeError>,
    ) -> Result<Option<BaseLayer>, TreeError> {
        let known = locked(&self.known)
            .entry(source.to_owned())
            .or_default()
            .clone();
        let mut known = locked(&known);
        if known.is_none() {
            *known = look()?;
        }
        Ok(known.clone())
    }

    fn make(&self, source: &Utf8Path, options: &Options<'_>) -> Result<BaseLayer, TreeError> {
        self.open(options)?;
        let from = Dir::open(source)?;
        // Of a directory without files that are left out, the layer is known before it is copied.
        if hidden_in(&from, options)?.is_empty() {
            let layer = self.layer(&name_of(&from, options)?);
            if layer.is_whole(options)? {
                return Ok(layer);
            }
        }
        let draft = Draft::create(&self.dir, 0o777)?;
        let tree = Dir::open_no_link(draft.path())?;
        copy_visible(&from, &tree, options, &mut |_| Ok(()))?;
        let layer = self.layer(&name_of(&tree, options)?);
        drop(tree);
        if !layer.is_whole(options)? {
            // Another run may have made the same layer meanwhile.
            publish(draft, &layer)?;
        }
        Ok(layer)
    }

    /// Makes a layer of files that `make` puts into an empty directory.
    pub fn fill<E: From<TreeError> + From<io::Error>>(
        &self,
        options: &Options<'_>,
        make: impl FnOnce(&Utf8Path) -> Result<(), E>,
    ) -> Result<BaseLayer, E> {
        self.open(options)?;
        let draft = Draft::create(&self.dir, 0o700)?;
        let tree = draft.path().join("tree");
        fs_err::create_dir(&tree)?;
        make(&tree)?;
        let opened = Dir::open_no_link(&tree)?;
        for path in hidden_in(&opened, options)? {
            let above = opened.open_dir(path.parent().unwrap_or(Path::new("")))?;
            let removed = remove_at(&above, path.file_name().unwrap_or_default(), options)?;
            removed.into_result(&path)?;
        }
        let layer = self.layer(&name_of(&opened, options)?);
        if !layer.is_whole(options)? {
            match fs_err::rename(&tree, &layer.tree) {
                Err(error) if !layer.tree.is_dir() => return Err(error.into()),
                _ => {}
            }
        }
        let known = Arc::new(Mutex::new(Some(layer.clone())));
        locked(&self.known).insert(layer.tree.clone(), known);
        Ok(layer)
    }

    /// Makes the directory of all layers, and holds it as long as this lives.
    fn open(&self, options: &Options<'_>) -> Result<(), TreeError> {
        let mut opened = locked(&self.opened);
        if opened.is_some() {
            return Ok(());
        }
        make_own_dir(&self.suite_dir)?;
        fs_err::create_dir_all(&self.dir)?;
        let lock = File::open(&self.dir).map_err(|error| TreeError::io(&self.dir, error))?;
        let lock = loop {
            match lock.try_lock_shared() {
                Ok(()) => break Some(lock),
                Err(TryLockError::WouldBlock) => options.check_stop()?,
                // Where directories cannot be locked, `terca clean` may remove a layer that is in use.
                Err(TryLockError::Error(_)) => break None,
            }
            std::thread::sleep(GLANCE);
        };
        remove_drafts(&self.dir);
        *opened = Some(Opened { _lock: lock });
        Ok(())
    }

    fn layer(&self, name: &str) -> BaseLayer {
        BaseLayer {
            hash: name.to_owned(),
            tree: self.dir.join(name),
        }
    }
}

/// Gives a draft the name of its layer, unless that is there already.
fn publish(draft: Draft, layer: &BaseLayer) -> Result<(), TreeError> {
    match draft.publish([layer.tree.clone()]) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}

/// Returns the layers in a directory of layers that are not used.
pub fn unused(dir: &Utf8Path, used: &BTreeSet<String>) -> Vec<Utf8PathBuf> {
    let entries = dir.read_dir_utf8().into_iter().flatten().flatten();
    let layers = entries.filter(|entry| content_hash_in(entry.file_name()).is_some());
    let unused = layers.filter(|entry| !used.contains(entry.file_name()));
    unused.map(camino::Utf8DirEntry::into_path).collect()
}

/// Removes the layers that are not used. `used` is asked once no run can begin to use one. Returns a line for each thing
/// that could not be removed; `None` if a run goes on, or nobody knows what is used: then nothing is touched.
pub fn remove_unused(
    dir: &Utf8Path,
    used: impl FnOnce() -> Option<BTreeSet<String>>,
) -> Option<Vec<String>> {
    let lock = match File::open(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(Vec::new()),
        lock => lock.ok()?,
    };
    lock.try_lock().ok()?;
    let unused = unused(dir, &used()?);
    let left = unused.iter().flat_map(|layer| remove_and_tell(layer));
    Some(left.collect())
}

impl BaseLayer {
    /// Returns the hash of its content.
    pub fn content_hash(&self) -> &str {
        content_hash_in(&self.hash).unwrap_or(&self.hash)
    }

    /// Returns whether the layer is there as it was made. One that somebody changed is removed.
    fn is_whole(&self, options: &Options<'_>) -> Result<bool, TreeError> {
        let found = match Dir::open_no_link(&self.tree) {
            Ok(tree) => name_of(&tree, options)?,
            Err(error) if error.is_not_found() => return Ok(false),
            Err(_) => String::new(),
        };
        if found == self.hash {
            return Ok(true);
        }
        let removed = remove(&self.tree, options)?;
        removed.into_result(self.tree.as_std_path())?;
        Ok(false)
    }
}

/// The digits of the hash of the content in the name of a layer.
const CONTENT_DIGITS: usize = 64;
/// The digits of the hash of permissions and times in the name of a layer.
const FACTS_DIGITS: usize = 16;

/// Returns the name of a layer. The first part of it holds for every copy of the layer, also for one that was made by a
/// program that does not keep times.
fn name_of(tree: &Dir, options: &Options<'_>) -> Result<String, TreeError> {
    let facts = hash_of_facts(tree, options)?;
    let facts = facts.get(..FACTS_DIGITS).unwrap_or(&facts);
    Ok(format!("{}-{facts}", hash(tree, options)?))
}

/// Returns the hash of a layer's content from its name; `None` for a text that is no name of a layer.
pub(crate) fn content_hash_in(name: &str) -> Option<&str> {
    let (content, facts) = name.split_once('-')?;
    let is_hash = |text: &str, digits| {
        text.len() == digits && text.bytes().all(|byte| b"0123456789abcdef".contains(&byte))
    };
    (is_hash(content, CONTENT_DIGITS) && is_hash(facts, FACTS_DIGITS)).then_some(content)
}

/// Copies a part of a suite that an agent will see: hidden tests, solutions and earlier runs are left out.
/// `note` gets each entry before it is copied, and may refuse it.
pub fn copy_visible(
    from: &Dir,
    to: &Dir,
    options: &Options<'_>,
    note: &mut dyn FnMut(&Entry<'_>) -> Result<(), TreeError>,
) -> Result<(), TreeError> {
    copy(from, to, options, &mut |entry| {
        if is_hidden_from_agents(entry)? {
            return Ok(false);
        }
        note(entry)?;
        Ok(true)
    })
    .map(|_| ())
}

/// Returns the paths in a tree that an agent must not see.
fn hidden_in(dir: &Dir, options: &Options<'_>) -> Result<Vec<PathBuf>, TreeError> {
    let mut hidden = Vec::new();
    walk(dir, options, &mut |entry, _| {
        if is_hidden_from_agents(entry)? {
            hidden.push(entry.path.to_owned());
            return Ok(Visit::Skip);
        }
        Ok(Visit::Continue)
    })?;
    Ok(hidden)
}

/// Returns whether an agent must not see this file of a suite.
///
/// These are `_tests`, `_solution` and `_solution.sh` of an eval, and `.terca`, which has the workspaces of earlier
/// trials.
fn is_hidden_from_agents(entry: &Entry<'_>) -> Result<bool, TreeError> {
    match entry.name.to_str() {
        Some("_tests" | "_solution" | "_solution.sh") => {
            Ok(entry.parent.meta_at("eval.terca.yaml")?.is_some())
        }
        Some(".terca") => Ok(true),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Suite {
        _guard: tempfile::TempDir,
        dir: Utf8PathBuf,
    }

    impl Suite {
        fn new() -> Self {
            let guard = tempfile::tempdir().unwrap();
            let dir = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
            for base in ["one", "two"] {
                fs_err::create_dir_all(dir.join(base).join("empty")).unwrap();
                fs_err::create_dir_all(dir.join(base).join(".terca")).unwrap();
                fs_err::write(dir.join(base).join("a"), "a").unwrap();
                fs_err::os::unix::fs::symlink("/etc", dir.join(base).join("link")).unwrap();
            }
            fs_err::create_dir_all(dir.join(".terca/runs/1")).unwrap();
            Suite { _guard: guard, dir }
        }

        fn layers(&self) -> BaseLayers {
            BaseLayers::of_suite(&self.dir)
        }

        /// Gives both directories the same times.
        fn even_times(&self) {
            for base in ["one", "two"] {
                for name in ["a", "empty", "link"] {
                    let touched = std::process::Command::new("touch")
                        .args(["-h", "-d", "2020-01-01T00:00:00Z"])
                        .arg(self.dir.join(base).join(name))
                        .status();
                    assert!(touched.unwrap().success());
                }
            }
        }

        fn names(&self) -> Vec<String> {
            let entries = self.dir.join(".terca/layers").read_dir_utf8();
            let entries = entries.unwrap().flatten();
            entries.map(|entry| entry.file_name().to_owned()).collect()
        }

        fn drafts(&self) -> usize {
            let entries = self.dir.join(".terca/layers").read_dir_utf8();
            let entries = entries.unwrap().flatten();
            entries
                .filter(|entry| entry.file_name().starts_with(".new-"))
                .count()
        }
    }

    fn reading() -> Options<'static> {
        Options {
            unlock: false,
            ..Options::default()
        }
    }

    #[test]
    fn equal_directories_are_one_layer_without_what_agents_must_not_see() {
        let suite = Suite::new();
        suite.even_times();
        let layers = suite.layers();
        let one = layers.get(&suite.dir.join("one"), &reading()).unwrap();
        let two = layers.get(&suite.dir.join("two"), &reading()).unwrap();
        assert_eq!(one, two);
        assert_eq!(suite.names(), [one.hash]);
        assert!(one.tree.join("empty").is_dir() && one.tree.join("a").is_file());
        assert!(!one.tree.join(".terca").exists());
        assert_eq!(one.tree.join("link").read_link_utf8().unwrap(), "/etc");
        assert_eq!(suite.drafts(), 0);
    }

    #[test]
    fn a_permission_an_empty_directory_and_a_time_make_another_layer() {
        let suite = Suite::new();
        suite.even_times();
        let base = suite.dir.join("one");
        let mut seen = vec![suite.layers().get(&base, &reading()).unwrap().hash];
        let mut note = || {
            let hash = suite.layers().get(&base, &reading()).unwrap().hash;
            assert!(!seen.contains(&hash));
            seen.push(hash);
        };
        fs_err::set_permissions(base.join("a"), std::fs::Permissions::from_mode(0o600)).unwrap();
        note();
        fs_err::create_dir(base.join("empty/deeper")).unwrap();
        note();
        fs_err::File::options()
            .write(true)
            .open(base.join("a"))
            .unwrap()
            .file()
            .set_modified(std::time::UNIX_EPOCH)
            .unwrap();
        note();
    }

    #[test]
    fn a_layer_is_made_once_in_a_run_and_found_when_it_is_resumed() {
        let suite = Suite::new();
        let (layers, base) = (suite.layers(), suite.dir.join("one"));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| layers.get(&base, &reading()).unwrap());
            }
        });
        let first = layers.get(&base, &reading()).unwrap();
        fs_err::write(base.join("later"), "").unwrap();
        assert_eq!(layers.get(&base, &reading()).unwrap(), first);
        fs_err::remove_file(base.join("later")).unwrap();
        assert_eq!(suite.layers().get(&base, &reading()).unwrap(), first);
        assert_eq!(suite.names(), [first.hash.as_str()]);
        // What somebody has changed meanwhile is made again.
        fs_err::write(first.tree.join("a"), "b").unwrap();
        assert_eq!(suite.layers().get(&base, &reading()).unwrap(), first);
        assert_eq!(fs_err::read_to_string(first.tree.join("a")).unwrap(), "a");
    }

    #[test]
    fn a_layer_that_could_not_be_made_leaves_nothing() {
        let suite = Suite::new();
        let layers = suite.layers();
        let stopped = Options {
            should_stop: &|| true,
            ..reading()
        };
        let base = suite.dir.join("one");
        assert!(matches!(
            layers.get(&base, &stopped),
            Err(TreeError::Stopped)
        ));
        assert!(layers.get(&suite.dir.join("none"), &reading()).is_err());
        assert!(suite.names().is_empty());
        assert_eq!(suite.drafts(), 0);
        assert!(
            layers.get(&base, &reading()).is_ok(),
            "another trial may try"
        );
    }
}
