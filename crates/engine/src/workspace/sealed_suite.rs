//! A sealed copy of the suite's files, as they were when the run started.
//!
//! Trials take the suite's files from here. So editing the suite while it runs changes nothing, and a fingerprint is
//! the hash of exactly the bytes that trials used.
//!
//! A file has the path of its original, below the root of the copy: `/lib/evals/fib/_tests` is
//! `ROOT/lib/evals/fib/_tests`. The directories above it have a link to everything that is not copied, so that
//! `$TERCA_SUITE_DIR/../dist` is the same file for a command as it is for the user. A store with a name for each
//! content was rejected: scripts find their neighbours by relative paths.
//!
//! | sealed | |
//! |---|---|
//! | everything that a YAML file names: layers, rules, skills, sources of `copy` | always; of a layer that is larger than [`SURROUNDINGS`], the copy is the one that all runs share ([`BaseLayers`]) |
//! | `_tests`, `_solution`, `_solution.sh` | always |
//! | the directory of an eval, and of a script that a command names | whole, unless it is larger than [`SURROUNDINGS`]; then only the files directly in it |
//! | the files directly in the suite's directory | always, unless one is larger than that |
//!
//! An agent is the same user and could find the copy. So the identity of each file is noted, and compared before each use.
//! What was changed is restored from an archive that no directory has: otherwise one agent could void all trials of its run, and
//! its own. An agent of the suite is started from a copy of its own ([`SealedSuite::of_programs`]), which has no tests beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::normal;
use terca_core::plan::fingerprint::{Fingerprinter, words};
use terca_core::text::mask::Mask;
use thiserror::Error;

use crate::tree;
use crate::tree::archive::{Packer, unpack};
use crate::tree::{Dir, Limits, Options, TreeError, Visit, identity};
use crate::workspace::base_layers::BaseLayers;
use crate::workspace::own_dirs::{secret_dir, secret_name};
use crate::workspace::suite_inputs::Inputs;
use crate::workspace::tree_hash::TreeHashes;

/// The most that is copied of a directory because something in it is used.
const SURROUNDINGS: Limits = Limits {
    bytes: 64 << 20,
    entries: 5_000,
    ..Limits::NONE
};
/// A directory above with more entries gets no links: nobody looks for something beside the suite in there.
const MOST_LINKS: u64 = 200_000;
/// A directory that is never copied: earlier runs are no input of this one.
const NOT_COPIED: &str = ".terca";

/// A sealed file that is not what it was, and cannot be restored.
#[derive(Debug, Error)]
#[error(
    "the sealed copy of {path} was changed during the run, so the run cannot use it ({reason}); look for a program that \
     writes to Terca's work directory"
)]
pub struct SealBroken {
    path: Utf8PathBuf,
    reason: io::Error,
}

/// A sealed copy of the suite's files.
#[derive(Debug)]
pub struct SealedSuite {
    /// The directory that has all of the files.
    root: Utf8PathBuf,
    suite_dir: Utf8PathBuf,
    /// The seals of trees and files, by their own paths.
    seals: BTreeMap<Utf8PathBuf, Seal>,
    /// The seals that commands may rely on without naming a file, and the directory of the eval that one is for alone.
    surroundings: Vec<(Utf8PathBuf, Option<Utf8PathBuf>)>,
    hashes: TreeHashes,
    /// The same files once more.
    spare: Option<Spare>,
}

/// An archive of everything that is sealed, in a file that has no name.
#[derive(Debug)]
struct Spare {
    archive: File,
    /// The paths that were restored from it so far.
    restored: Mutex<Vec<Utf8PathBuf>>,
}

/// The seal of a file or tree.
#[derive(Debug)]
struct Seal {
    identity: Mutex<String>,
    /// The place of a tree that all runs share.
    shared: Option<Utf8PathBuf>,
}

impl SealedSuite {
    /// Copies what a run uses into an empty directory. A path that is missing or cannot be read is left out: the trial
    /// that needs it reports the error, with the path that the user knows. Large layers are among `layers`.
    pub fn create(
        root: Utf8PathBuf,
        suite_dir: &Utf8Path,
        inputs: &Inputs,
        layers: &BaseLayers,
    ) -> Result<Self, TreeError> {
        let mut sealed = SealedSuite::empty(root, suite_dir);
        let mut around: BTreeMap<Utf8PathBuf, bool> = BTreeMap::new();
        for script in &inputs.scripts {
            let dir = script.parent().unwrap_or(script);
            around.insert(dir.to_owned(), false);
        }
        for dir in &inputs.eval_dirs {
            around.insert(dir.clone(), true);
        }
        around.retain(|dir, _| dir.starts_with(suite_dir) && dir != suite_dir);
        // A directory comes before everything in it, which is then sealed already.
        let mut paths: BTreeSet<&Utf8Path> = around.keys().map(Utf8PathBuf::as_path).collect();
        paths.extend(inputs.named.iter().map(Utf8PathBuf::as_path));
        for path in paths {
            if inputs.layers.contains(path) && sealed.share(path, layers)? {
                continue;
            }
            if inputs.named.contains(path) {
                sealed.seal(path)?;
            } else {
                sealed.seal_surroundings(path)?;
            }
        }
        sealed.seal_files_of(suite_dir)?;
        around.insert(suite_dir.to_owned(), false);
        for (dir, is_of_eval) in around {
            let is_around = |path: &Utf8PathBuf| {
                *path == dir || path.parent() == Some(&dir) && sealed.place(path).is_file()
            };
            let paths = sealed.seals.keys().filter(|path| is_around(path));
            let eval = is_of_eval.then_some(&dir);
            let found: Vec<_> = paths.map(|path| (path.clone(), eval.cloned())).collect();
            sealed.surroundings.extend(found);
        }
        sealed.link_the_rest()?;
        sealed.put_aside()?;
        Ok(sealed)
    }

    /// Copies the programs of agents and what is around them into an empty directory: an agent finds the path that it is started
    /// from. `None` if no agent of the run is in the suite. Evals beside a program stay out.
    pub fn of_programs(
        new_dir: impl FnOnce() -> io::Result<Utf8PathBuf>,
        suite_dir: &Utf8Path,
        inputs: &Inputs,
    ) -> Result<Option<Self>, TreeError> {
        let dirs = inputs.programs.iter().filter_map(|path| path.parent());
        let dirs: BTreeSet<&Utf8Path> = dirs.filter(|dir| dir.starts_with(suite_dir)).collect();
        if dirs.is_empty() {
            return Ok(None);
        }
        let mut sealed = SealedSuite::empty(new_dir()?, suite_dir);
        for dir in dirs {
            let is_above = |eval: &Utf8PathBuf| eval.starts_with(dir);
            if dir == suite_dir || inputs.eval_dirs.iter().any(is_above) {
                sealed.seal_files_of(dir)?;
            } else {
                sealed.seal_surroundings(dir)?;
            }
        }
        sealed.link_the_rest()?;
        sealed.put_aside()?;
        Ok(Some(sealed))
    }

    fn empty(root: Utf8PathBuf, suite_dir: &Utf8Path) -> Self {
        SealedSuite {
            root,
            suite_dir: suite_dir.to_owned(),
            seals: BTreeMap::new(),
            surroundings: Vec::new(),
            hashes: TreeHashes::default(),
            spare: None,
        }
    }

    /// Puts all sealed files into an archive, each at its own path.
    pub fn pack(&self, packer: &mut Packer<impl io::Write>) -> io::Result<()> {
        self.pack_some(packer, |_| true)
    }

    fn pack_some(
        &self,
        packer: &mut Packer<impl io::Write>,
        is_wanted: impl Fn(&Seal) -> bool,
    ) -> io::Result<()> {
        let wanted = self.seals.iter().filter(|(_, seal)| is_wanted(seal));
        for (path, _) in wanted {
            let place = self.place_or_original(path);
            let at = path.strip_prefix("/").unwrap_or(path);
            if place.is_dir() {
                packer.add_tree(&Dir::open_no_link(&place)?, at)?;
            } else {
                let above = Dir::open_no_link(place.parent().unwrap_or(&place))?;
                let name = Path::new(place.file_name().unwrap_or_default());
                packer.add_entry(&above, name, at.as_std_path())?;
            }
        }
        Ok(())
    }

    /// Returns the hash of a file or tree, as it was sealed.
    fn hash(&self, path: &Utf8Path) -> String {
        self.hashes.get(&self.place_or_original(path))
    }

    /// Returns the hash of a file that a command names.
    pub fn script_hash(&self, path: &Utf8Path) -> Option<String> {
        self.hashes.file(&self.place_or_original(&normal(path)))
    }

    /// Uses a fingerprinter that reads the sealed files.
    pub fn fingerprint<T>(
        &self,
        mask: &Mask,
        root: Option<&Utf8Path>,
        take: impl FnOnce(&Fingerprinter<'_>) -> T,
    ) -> T {
        take(&Fingerprinter {
            suite_dir: &self.suite_dir,
            root,
            mask,
            content: &|path| self.hash(path),
            script: &|path| self.script_hash(path),
        })
    }

    /// Returns a command with the sealed copies of the suite's files that it names by absolute paths.
    pub fn command(&self, command: &str) -> Result<String, SealBroken> {
        let mut sealed = command.to_owned();
        for word in words(command) {
            let path = Utf8Path::new(word);
            if path.starts_with(&self.suite_dir) && self.seal_of(path).is_some() {
                sealed = sealed.replace(word, self.open(path)?.as_str());
            }
        }
        Ok(sealed)
    }

    /// Returns the sealed copy of a file or tree. One that somebody has changed is restored.
    pub fn open(&self, path: &Utf8Path) -> Result<Utf8PathBuf, SealBroken> {
        if let Some(sealed) = self.seal_of(path) {
            self.check(sealed)?;
        }
        Ok(self.place_or_original(path))
    }

    /// Returns the place of a directory for commands that run beside it.
    pub fn dir(&self, path: &Utf8Path) -> Utf8PathBuf {
        let place = self.place(path);
        if place.is_dir() {
            place
        } else {
            path.to_owned()
        }
    }

    /// Checks the files that commands of an eval may use without naming them. Those that somebody has changed are restored.
    pub fn check_surroundings(&self, eval_dir: &Utf8Path) -> Result<(), SealBroken> {
        for (path, eval) in &self.surroundings {
            if eval.as_deref().is_none_or(|eval| eval == eval_dir) {
                self.check(path)?;
            }
        }
        Ok(())
    }

    /// Makes links that lead into the copy lead to the originals. The copy is gone when the run is over, but a
    /// workspace may be kept.
    pub fn restore_links(&self, workspace: &Utf8Path) -> Result<(), TreeError> {
        let dir = Dir::open_no_link(workspace)?;
        let mut found: Vec<(PathBuf, PathBuf)> = Vec::new();
        tree::walk(&dir, &Options::default(), &mut |entry, meta| {
            if meta.is_link()
                && let Ok(original) = entry.read_link()?.strip_prefix(&self.root)
            {
                found.push((entry.path.to_owned(), Path::new("/").join(original)));
            }
            Ok(Visit::Continue)
        })?;
        for (link, original) in found {
            // In a directory that the agent closed it stays as it is: the agent must not make that an error.
            if dir.remove_file(&link).is_ok() {
                dir.create_link(&original, &link)?;
            }
        }
        Ok(())
    }

    /// Returns the directory that has the files.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns the place of a path in the copy, if it is there.
    pub fn place(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Returns the place of a path in the copy, or the path itself where the copy does not have it.
    pub fn place_or_original(&self, path: &Utf8Path) -> Utf8PathBuf {
        let Some(sealed) = self.seal_of(path) else {
            return path.to_owned();
        };
        match self.seals.get(sealed).and_then(|seal| seal.shared.as_ref()) {
            Some(shared) if sealed == path => shared.clone(),
            Some(shared) => shared.join(path.strip_prefix(sealed).unwrap_or(path)),
            None => self.place(path),
        }
    }

    /// Returns the directories outside of the copy that have sealed files.
    pub fn shared(&self) -> impl Iterator<Item = &Utf8PathBuf> {
        self.seals.values().filter_map(|seal| seal.shared.as_ref())
    }

    /// Returns the sealed path that a path is, or is in.
    fn seal_of<'a>(&self, path: &'a Utf8Path) -> Option<&'a Utf8Path> {
        let mut above = path.ancestors();
        above.find(|above| self.seals.contains_key(*above))
    }

    /// Returns the number of times that something was restored.
    pub fn times_restored(&self) -> usize {
        (self.spare.as_ref()).map_or(0, |spare| locked(&spare.restored).len())
    }

    /// Returns the paths that were restored since then.
    pub fn restored_since(&self, times: usize) -> BTreeSet<Utf8PathBuf> {
        let Some(spare) = &self.spare else {
            return BTreeSet::new();
        };
        locked(&spare.restored)
            .iter()
            .skip(times)
            .cloned()
            .collect()
    }

    /// Returns whether a sealed path is what it was.
    fn is_whole(&self, path: &Utf8Path, seal: &Seal) -> bool {
        let now = identity(self.place_or_original(path)).ok();
        now.is_some_and(|now| now == *locked(&seal.identity))
    }

    fn check(&self, path: &Utf8Path) -> Result<(), SealBroken> {
        let Some(seal) = self.seals.get(path) else {
            return Ok(());
        };
        if self.is_whole(path, seal) {
            return Ok(());
        }
        self.restore(path, seal).map_err(|reason| SealBroken {
            path: path.to_owned(),
            reason,
        })
    }

    /// Puts everything that is sealed into an archive without a name, so that nobody else can open it. Trees that all runs
    /// share are not in it.
    fn put_aside(&mut self) -> io::Result<()> {
        let path = self.root.with_file_name(secret_name()?);
        let mut options = OpenOptions::new();
        let archive = options
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        fs_err::remove_file(&path)?;
        let mut packer = Packer::new(io::BufWriter::new(archive), u64::MAX);
        self.pack_some(&mut packer, |seal| seal.shared.is_none())?;
        let archive = packer.finish()?.0.into_inner();
        self.spare = Some(Spare {
            archive: archive.map_err(io::IntoInnerError::into_error)?,
            restored: Mutex::default(),
        });
        Ok(())
    }

    /// Restores a sealed path from the archive, one at a time: others may have found the same.
    fn restore(&self, path: &Utf8Path, seal: &Seal) -> io::Result<()> {
        let spare = self.spare.as_ref().filter(|_| seal.shared.is_none());
        let spare = spare.ok_or_else(|| io::Error::other("there is no other copy of it"))?;
        let mut restored = locked(&spare.restored);
        if self.is_whole(path, seal) {
            return Ok(());
        }
        self.open_way_to(path)?;
        let unpacked = secret_dir(self.root.parent().unwrap_or(&self.root))?;
        (&spare.archive).rewind()?;
        unpack(&spare.archive, &Dir::open(&unpacked)?, u64::MAX)?;
        let place = self.place(path);
        let removed = tree::remove(&place, &Options::default())?;
        removed.into_result(place.as_std_path())?;
        fs_err::rename(
            unpacked.join(path.strip_prefix("/").unwrap_or(path)),
            &place,
        )?;
        *locked(&seal.identity) = identity(&place)?;
        restored.push(path.to_owned());
        let _left = tree::remove(&unpacked, &Options::default())?;
        Ok(())
    }

    /// Makes the directories above a sealed path what they were: directories that their owner can use.
    fn open_way_to(&self, path: &Utf8Path) -> io::Result<()> {
        let place = self.place(path);
        let above: Vec<&Utf8Path> = place.ancestors().skip(1).collect();
        let own = above.into_iter().rev();
        for dir in own.filter(|dir| dir.starts_with(&self.root)) {
            match dir.symlink_metadata() {
                Ok(meta) if meta.is_dir() => {
                    let mode = meta.permissions().mode() | 0o700;
                    std::fs::set_permissions(dir, Permissions::from_mode(mode))?;
                }
                found => {
                    if found.is_ok() {
                        fs_err::remove_file(dir)?;
                    }
                    fs_err::create_dir(dir)?;
                }
            }
        }
        Ok(())
    }

    /// Copies a file or tree.
    fn seal(&mut self, path: &Utf8Path) -> Result<(), TreeError> {
        if self.seal_of(path).is_some() || !path.exists() {
            return Ok(());
        }
        let place = self.place(path);
        if let Some(above) = place.parent() {
            fs_err::create_dir_all(above)?;
        }
        let copied = match path.is_dir() {
            true => copy_dir(path, &place),
            false => copy_file(path, &place),
        };
        match copied {
            Ok(()) => {}
            // Not readable: the trial that needs it says so.
            Err(TreeError::Io { source, .. })
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                let removed = tree::remove(&place, &Options::default())?;
                return removed.into_result(place.as_std_path());
            }
            Err(error) => return Err(error),
        }
        self.insert(path, &place, None)
    }

    fn insert(
        &mut self,
        path: &Utf8Path,
        place: &Utf8Path,
        shared: Option<Utf8PathBuf>,
    ) -> Result<(), TreeError> {
        let identity = Mutex::new(identity(place)?);
        let seal = Seal { identity, shared };
        self.seals.insert(path.to_owned(), seal);
        Ok(())
    }

    /// Seals a layer that is too large to be copied for each run: all runs share a copy. Returns whether it did. One that
    /// has files which agents must not see is not the same as its layer.
    fn share(&mut self, path: &Utf8Path, layers: &BaseLayers) -> Result<bool, TreeError> {
        let is_large = || {
            let size = Dir::open(path).and_then(|dir| tree::measure(&dir, &around()));
            matches!(size, Err(TreeError::TooLarge { .. }))
        };
        if self.seal_of(path).is_some() || !is_large() {
            return Ok(false);
        }
        let Ok(Some(layer)) = layers.get_same(path, &Options::reading()) else {
            // The copy says what is wrong.
            return Ok(false);
        };
        let place = self.place(path);
        fs_err::create_dir_all(place.parent().unwrap_or(&place))?;
        fs_err::os::unix::fs::symlink(&layer.tree, place)?;
        self.hashes.know(&layer.tree, layer.content_hash());
        self.insert(path, &layer.tree, Some(layer.tree.clone()))?;
        Ok(true)
    }

    /// Copies a directory because something in it is used, if it is not too large.
    fn seal_surroundings(&mut self, path: &Utf8Path) -> Result<(), TreeError> {
        if self.seal_of(path).is_some() || !path.is_dir() || path.is_symlink() {
            return Ok(());
        }
        match tree::measure(&Dir::open(path)?, &around()) {
            Ok(_) => self.seal(path),
            Err(TreeError::TooLarge { .. }) => self.seal_files_of(path),
            // Not readable. It is of use to commands only, which see it as it is.
            Err(_) => Ok(()),
        }
    }

    /// Copies the files that are directly in a directory. Links stay links, because a program that is found through one
    /// looks for its files where the link leads.
    fn seal_files_of(&mut self, path: &Utf8Path) -> Result<(), TreeError> {
        if self.seal_of(path).is_some() {
            return Ok(());
        }
        let place = self.place(path);
        fs_err::create_dir_all(&place)?;
        let dir = Dir::open(path)?;
        let target = Dir::open(&place)?;
        for name in dir.names(MOST_LINKS)? {
            let Some(meta) = dir.meta_at(&name)? else {
                continue;
            };
            let is_sealed = target.meta_at(&name)?.is_some();
            if !is_sealed
                && meta.is_file()
                && meta.size <= SURROUNDINGS.bytes
                && let Some(path) = name.to_str().map(|name| path.join(name))
                && let Ok(file) = dir.open_file(&name)
                && tree::copy_file(&file, &target, &name, &Options::reading()).is_ok()
            {
                self.insert(&path, &self.place(&path), None)?;
            }
        }
        Ok(())
    }

    /// Fills the directories above sealed files with links to everything that is not copied.
    fn link_the_rest(&self) -> Result<(), TreeError> {
        let above = self.seals.keys().flat_map(|path| path.ancestors().skip(1));
        let partial: BTreeSet<&Utf8Path> = above.collect();
        for dir in partial {
            if self.seal_of(dir).is_none() {
                self.link_entries(dir)?;
            }
        }
        Ok(())
    }

    fn link_entries(&self, dir: &Utf8Path) -> Result<(), TreeError> {
        // A directory that cannot be listed cannot be searched for neighbours either.
        let Ok(names) = Dir::open(dir).and_then(|dir| dir.names(MOST_LINKS)) else {
            return Ok(());
        };
        let place = self.place(dir);
        fs_err::create_dir_all(&place)?;
        let place = Dir::open(&place)?;
        for name in names {
            if place.meta_at(&name)?.is_none() {
                place.create_link(dir.as_std_path().join(&name), &name)?;
            }
        }
        Ok(())
    }
}

/// Waits for the others that use it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the options for looking whether a directory is small enough.
fn around() -> Options<'static> {
    Options {
        limits: SURROUNDINGS,
        ..Options::reading()
    }
}

fn copy_dir(from: &Utf8Path, to: &Utf8Path) -> Result<(), TreeError> {
    fs_err::create_dir_all(to)?;
    let (from, to) = (Dir::open(from)?, Dir::open(to)?);
    tree::copy(&from, &to, &Options::reading(), &mut |entry| {
        Ok(entry.name != NOT_COPIED)
    })
    .map(|_| ())
}

fn copy_file(from: &Utf8Path, to: &Utf8Path) -> Result<(), TreeError> {
    let file = fs_err::File::open(from)?;
    let above = Dir::open(to.parent().unwrap_or(to))?;
    let name = OsStr::new(to.file_name().unwrap_or_default());
    tree::copy_file(file.file(), &above, name, &Options::reading())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Suite {
        temporary: tempfile::TempDir,
    }

    impl Suite {
        fn new(files: &[(&str, &str)]) -> Self {
            let suite = Suite {
                temporary: tempfile::tempdir().unwrap(),
            };
            for (path, content) in files {
                let path = suite.path(path);
                fs_err::create_dir_all(path.parent().unwrap()).unwrap();
                fs_err::write(path, content).unwrap();
            }
            suite
        }

        fn path(&self, path: &str) -> Utf8PathBuf {
            let root = self.temporary.path().canonicalize().unwrap();
            Utf8PathBuf::from_path_buf(root).unwrap().join(path)
        }

        fn sealed(&self, named: &[&str], scripts: &[&str], eval_dirs: &[&str]) -> SealedSuite {
            let paths = |list: &[&str]| list.iter().map(|path| self.path(path)).collect();
            let inputs = Inputs {
                named: paths(named),
                scripts: paths(scripts),
                eval_dirs: paths(eval_dirs),
                layers: paths(named),
                ..Inputs::default()
            };
            let copy = self.path("copy");
            fs_err::create_dir(&copy).unwrap();
            let layers = BaseLayers::of_suite(&self.path("suite"));
            SealedSuite::create(copy, &self.path("suite"), &inputs, &layers).unwrap()
        }
    }

    #[test]
    fn a_directory_that_is_too_large_is_sealed_by_its_files_alone() {
        let suite = Suite::new(&[("suite/a/eval.terca.yaml", "x"), ("suite/a/lib/one", "1")]);
        for number in 0..SURROUNDINGS.entries {
            fs_err::write(suite.path(&format!("suite/a/lib/{number}.txt")), "").unwrap();
        }
        let sealed = suite.sealed(&["suite/a/lib/one"], &[], &["suite/a"]);
        let eval = sealed.dir(&suite.path("suite/a"));
        assert!(!eval.join("eval.terca.yaml").is_symlink());
        assert!(!eval.join("lib/one").is_symlink(), "it is named");
        assert!(eval.join("lib/7.txt").is_symlink(), "nobody names it");
        fs_err::write(suite.path("suite/a/lib/one"), "2").unwrap();
        let one = sealed.open(&suite.path("suite/a/lib/one")).unwrap();
        assert_eq!(fs_err::read_to_string(one).unwrap(), "1");
    }

    #[test]
    fn a_large_layer_is_sealed_in_the_copy_that_all_runs_share() {
        let suite = Suite::new(&[("suite/terca.yaml", ""), ("suite/_base/one", "1")]);
        let base = suite.path("suite/_base");
        for number in 0..SURROUNDINGS.entries {
            fs_err::write(base.join(format!("{number}.txt")), "").unwrap();
        }
        let first = suite.sealed(&["suite/_base"], &[], &[]);
        let place = first.open(&base).unwrap();
        assert!(
            place.starts_with(suite.path("suite/.terca/layers")),
            "{place}"
        );
        assert_eq!(first.hash(&base), TreeHashes::default().get(&base));
        fs_err::remove_dir_all(suite.path("copy")).unwrap();
        let second = suite.sealed(&["suite/_base"], &[], &[]);
        assert_eq!(second.open(&base).unwrap(), place);
        assert_eq!(first.open(&base).unwrap(), place, "it is as it was");
        // A command that looks for it finds it, and an edit of the suite does not reach it.
        let in_copy = second.dir(&suite.path("suite")).join("_base/one");
        fs_err::write(base.join("one"), "2").unwrap();
        assert_eq!(fs_err::read_to_string(in_copy).unwrap(), "1");
        fs_err::write(place.join("one"), "2").unwrap();
        assert!(second.open(&base).is_err());
    }

    #[test]
    fn a_script_that_is_a_link_stays_one_and_a_named_link_does_not() {
        let suite = Suite::new(&[("suite/terca.yaml", ""), ("tools/x.sh", "tool")]);
        for link in ["suite/run.sh", "suite/rules.md"] {
            fs_err::os::unix::fs::symlink("../tools/x.sh", suite.path(link)).unwrap();
        }
        let sealed = suite.sealed(&["suite/rules.md"], &["suite/run.sh"], &[]);
        let dir = sealed.dir(&suite.path("suite"));
        assert_eq!(fs_err::read_to_string(dir.join("run.sh")).unwrap(), "tool");
        assert!(dir.join("run.sh").is_symlink() && !dir.join("rules.md").is_symlink());
        assert_eq!(
            fs_err::read_to_string(dir.join("../tools/x.sh")).unwrap(),
            "tool",
            "what is beside the suite is there"
        );
    }

    #[test]
    fn every_change_of_the_copy_is_undone() {
        type Change = fn(&Utf8Path);
        let changes: [(&str, Change); 7] = [
            ("suite/a/_tests", |dir| {
                set_mode(&dir.join("check.sh"), 0);
            }),
            ("suite/a/_tests", |dir| set_mode(dir, 0)),
            ("suite/a/_tests", |dir| {
                let root = dir.ancestors().find(|dir| dir.ends_with("copy")).unwrap();
                let moved = dir.with_file_name("moved");
                fs_err::rename(dir, moved).unwrap();
                set_mode(root, 0o500);
            }),
            ("suite/a/_tests", |dir| {
                fs_err::write(dir.join("check.sh"), "exit 00").unwrap();
            }),
            ("suite/a/_tests", |dir| {
                fs_err::write(dir.join("conftest.py"), "").unwrap();
            }),
            ("suite/a/_tests", |dir| {
                fs_err::remove_file(dir.join("check.sh")).unwrap();
            }),
            ("suite", |dir| {
                fs_err::write(dir.join("terca.yaml"), "other").unwrap();
            }),
        ];
        for (path, change) in changes {
            let suite = Suite::new(&[
                ("suite/terca.yaml", "x"),
                ("suite/a/_tests/check.sh", "exit 1"),
            ]);
            let sealed = suite.sealed(&["suite/a/_tests"], &[], &["suite/a"]);
            let eval = suite.path("suite/a");
            sealed.check_surroundings(&eval).unwrap();
            let tests = sealed.open(&suite.path("suite/a/_tests")).unwrap();
            let dir = if path == "suite" {
                sealed.dir(&suite.path("suite"))
            } else {
                tests
            };
            let whole = sealed.hash(&suite.path("suite/a/_tests"));
            change(&dir);
            sealed.check_surroundings(&eval).unwrap();
            assert_eq!(sealed.times_restored(), 1, "{path}");
            assert!(
                sealed
                    .restored_since(0)
                    .iter()
                    .all(|found| found.starts_with(suite.path("suite")))
            );
            sealed.check_surroundings(&eval).unwrap();
            assert_eq!(sealed.times_restored(), 1, "once is enough");
            let tests = sealed.open(&suite.path("suite/a/_tests")).unwrap();
            assert_eq!(TreeHashes::default().get(&tests), whole);
            let yaml = sealed.open(&suite.path("suite/terca.yaml")).unwrap();
            assert_eq!(fs_err::read_to_string(yaml).unwrap(), "x");
        }
    }

    fn set_mode(path: &Utf8Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_path_that_is_missing_or_outside_is_its_own() {
        let suite = Suite::new(&[("suite/terca.yaml", ""), ("other/data/x", "x")]);
        let sealed = suite.sealed(&["suite/missing", "other/data"], &[], &[]);
        let missing = suite.path("suite/missing");
        assert_eq!(sealed.open(&missing).unwrap(), missing);
        assert_ne!(
            sealed.open(&suite.path("other/data")).unwrap(),
            suite.path("other/data")
        );
        let command = format!(
            "sh {} '{}'",
            suite.path("suite/terca.yaml"),
            suite.path("other/y")
        );
        let sealed_command = sealed.command(&command).unwrap();
        assert!(
            sealed_command.contains("/copy/")
                && sealed_command.ends_with(&format!("'{}'", suite.path("other/y"))),
            "{sealed_command}"
        );
    }
}
