//! `RUN/layers`: the directories that the trials of a run start from, each kept once.
//!
//! A layer is a directory of the suite, or the tree of a cached `prepare` step, without the files that agents must not
//! see. It is in `layers/HASH`, so layers that are equal in everything that a copy keeps are one. It is made when a
//! trial first needs it, as a draft in `.terca`, which the next run removes if this one is killed. Nothing writes to a
//! layer that has its name.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use camino::{Utf8Path, Utf8PathBuf};

use crate::locked;
use crate::tree::{Dir, Entry, Options, TreeError, copy, hash, hash_of_facts, remove};
use crate::workspace::own_dirs::remove_and_tell;
use crate::workspace::stale_dirs::Draft;

/// The directory of a run with its layers.
pub const LAYERS: &str = "layers";
/// The directory of a suite with its runs, and with what is being made.
const OWN: &str = ".terca";

/// The layers that the trials of one run start from.
#[derive(Debug)]
pub struct BaseLayers {
    dir: Utf8PathBuf,
    drafts: Utf8PathBuf,
    known: Mutex<HashMap<Utf8PathBuf, Known>>,
    /// The layers that this run made and nobody needs so far.
    unneeded: Mutex<BTreeSet<String>>,
}

/// A layer, once it is made. Whoever needs it first makes it, while the others wait.
type Known = Arc<Mutex<Option<BaseLayer>>>;

/// A layer that is kept with its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseLayer {
    /// Its name: the hash of its content, a hyphen, and the beginning of the hash of its permissions and times.
    pub hash: String,
    /// Its directory, which must not be changed.
    pub tree: Utf8PathBuf,
}

impl BaseLayers {
    /// Makes nothing yet: layers are made when they are needed.
    pub fn new(run_dir: &Utf8Path, suite_dir: &Utf8Path) -> Self {
        let dir = run_dir.join(LAYERS);
        let own = suite_dir.join(OWN);
        // A run that was moved elsewhere may be on another file system.
        let drafts = if run_dir.starts_with(&own) {
            own
        } else {
            dir.clone()
        };
        BaseLayers {
            dir,
            drafts,
            known: Mutex::default(),
            unneeded: Mutex::default(),
        }
    }

    /// Returns the layer that has the files of a directory, made if need be. A directory is looked at once in a run.
    /// `options` are for reading the directory, which other trials may read at the same time.
    pub fn get(&self, source: &Utf8Path, options: &Options<'_>) -> Result<BaseLayer, TreeError> {
        let known = locked(&self.known)
            .entry(source.to_owned())
            .or_default()
            .clone();
        let mut known = locked(&known);
        if let Some(layer) = &*known {
            return Ok(layer.clone());
        }
        let layer = self.make(source, options)?;
        *known = Some(layer.clone());
        Ok(layer)
    }

    fn make(&self, source: &Utf8Path, options: &Options<'_>) -> Result<BaseLayer, TreeError> {
        fs_err::create_dir_all(&self.dir)?;
        let draft = Draft::create(&self.drafts, 0o777)?;
        let tree = Dir::open_no_link(draft.path())?;
        copy_visible(&Dir::open(source)?, &tree, options, &mut |_| Ok(()))?;
        let hash = name_of(&tree, options)?;
        drop(tree);
        let layer = BaseLayer {
            tree: self.dir.join(&hash),
            hash,
        };
        if layer.is_whole(options)? {
            return Ok(layer);
        }
        // Another trial may have made the same layer from another directory meanwhile.
        match draft.publish([layer.tree.clone()]) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
            Err(_) => Ok(layer),
            Ok(_) => {
                self.unneeded().insert(layer.hash.clone());
                Ok(layer)
            }
        }
    }

    /// Takes note that a saved workspace needs these layers.
    pub fn need(&self, names: &[String]) {
        let mut unneeded = self.unneeded();
        for name in names {
            unneeded.remove(name);
        }
    }

    /// Removes the layers that this run made for mounts alone, when it has ended. Returns a line for each thing that could
    /// not be removed.
    pub fn remove_unneeded(&self) -> Vec<String> {
        let mut left = Vec::new();
        for name in std::mem::take(&mut *self.unneeded()) {
            left.extend(remove_and_tell(&self.dir.join(name)));
        }
        // It stays if there are others in it.
        let _ = std::fs::remove_dir(&self.dir);
        left
    }

    fn unneeded(&self) -> MutexGuard<'_, BTreeSet<String>> {
        locked(&self.unneeded)
    }
}

impl BaseLayer {
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
            BaseLayers::new(&self.dir.join(".terca/runs/1"), &self.dir)
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
            let entries = self.dir.join(".terca/runs/1/layers").read_dir_utf8();
            let entries = entries.unwrap().flatten();
            entries.map(|entry| entry.file_name().to_owned()).collect()
        }

        fn drafts(&self) -> usize {
            let entries = self.dir.join(".terca").read_dir_utf8().unwrap().flatten();
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
