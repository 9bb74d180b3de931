//! Removes what is no longer needed in `.terca`: cached steps, runs that ended long ago, and layers that no run uses.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::host::agent_store::AGENTS;
use crate::host::package_caches::PACKAGES;
use crate::run::files::{EVENTS, open_run, runs_dir};
use crate::run::journal::is_going_on;
use crate::run::past_runs;
use crate::tree::{Dir, Options, measure};
use crate::workspace::base_layers::{self, layers_dir};
use crate::workspace::layers;
use crate::workspace::own_dirs::remove_and_tell;
use crate::workspace::saved::restore::layers_of;

/// Something that can be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removable {
    /// Its directory.
    pub path: Utf8PathBuf,
    /// The kind of directory.
    pub kind: RemovableKind,
    /// The disk space that it takes.
    pub bytes: u64,
}

/// The kind of a directory that can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovableKind {
    /// A cached step of `prepare`. Its files are a layer.
    Step,
    /// What package managers and compilers keep.
    Downloads,
    /// Agents that Terca has installed.
    Agents,
    /// A run.
    Run,
    /// The layers that no run uses. They come last, because runs that are removed use theirs no longer.
    Layers,
}

/// Returns all cached steps, the runs whose last event is older than this, and the layers that nothing else uses.
/// [`remove`] leaves those in use alone.
pub fn removable(suite_dir: &Utf8Path, older_than: Duration) -> Vec<Removable> {
    let mut found = Vec::new();
    if let Ok(entries) = layers::cache_dir(suite_dir).read_dir_utf8() {
        let layers = entries.flatten().filter(|entry| entry.path().is_dir());
        found.extend(layers.map(|entry| {
            let kind = match entry.file_name() {
                PACKAGES => RemovableKind::Downloads,
                AGENTS => RemovableKind::Agents,
                _ => RemovableKind::Step,
            };
            measured(entry.path(), kind)
        }));
    }
    let names = past_runs::names(suite_dir).unwrap_or_default();
    let dirs = names.iter().map(|name| runs_dir(suite_dir).join(name));
    let is_old =
        |dir: &Utf8PathBuf| age(dir).is_some_and(|age| age >= older_than) && !is_going_on(dir);
    let (old, kept): (Vec<_>, Vec<_>) = dirs.partition(is_old);
    found.extend(old.iter().map(|dir| measured(dir, RemovableKind::Run)));
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let dir = layers_dir(suite_dir);
    let unused = used_layers(&kept).map(|used| base_layers::unused(&dir, &used));
    let bytes = |layers: Vec<Utf8PathBuf>| layers.iter().map(|layer| bytes_below(layer)).sum();
    let layers = unused.filter(|layers| !layers.is_empty()).map(bytes);
    found.extend(layers.map(|bytes| Removable {
        path: dir,
        kind: RemovableKind::Layers,
        bytes,
    }));
    found
}

/// Returns the names of the layers that these runs use; `None` if one of them does not say.
fn used_layers(runs: &[Utf8PathBuf]) -> Option<BTreeSet<String>> {
    let mut used = BTreeSet::new();
    for run in runs {
        let names = open_run(run).map_err(Into::into);
        used.extend(names.and_then(|run| layers_of(&run)).ok()?);
    }
    Some(used)
}

/// Returns the names of the layers that the runs of a suite and its cached steps use; `None` if it is not known.
fn all_used_layers(suite_dir: &Utf8Path) -> Option<BTreeSet<String>> {
    let names = past_runs::names(suite_dir).ok()?;
    let runs: Vec<_> = (names.iter().map(|name| runs_dir(suite_dir).join(name))).collect();
    let mut used = used_layers(&runs)?;
    used.extend(layers::layers_in_cache(suite_dir));
    Some(used)
}

/// Returns how long ago the journal was last written. A clock that was set back makes nothing old.
fn age(run: &Utf8Path) -> Option<Duration> {
    let journal = open_run(run).ok()?.meta_at(EVENTS).ok()??;
    let seconds = jiff::Timestamp::now().as_second() - journal.modified.0;
    Some(Duration::from_secs(seconds.try_into().unwrap_or(0)))
}

fn measured(path: &Utf8Path, kind: RemovableKind) -> Removable {
    Removable {
        path: path.to_owned(),
        kind,
        bytes: bytes_below(path),
    }
}

/// Returns the disk space of the files below a directory. Links are not followed, and mounts are left out.
pub fn bytes_below(dir: &Utf8Path) -> u64 {
    let options = Options::default();
    let size = Dir::open(dir).and_then(|dir| measure(&dir, &options));
    size.unwrap_or(0)
}

/// Removes a directory. Returns a line for each thing that could not be removed; `None` if it is in use, and not touched.
pub fn remove(suite_dir: &Utf8Path, what: &Removable) -> Option<Vec<String>> {
    match what.kind {
        RemovableKind::Layers => {
            base_layers::remove_unused(&what.path, || all_used_layers(suite_dir))
        }
        RemovableKind::Step | RemovableKind::Downloads | RemovableKind::Agents => {
            layers::remove_unused(&what.path)
        }
        RemovableKind::Run if is_going_on(&what.path) => None,
        RemovableKind::Run => Some(remove_and_tell(&what.path)),
    }
}
