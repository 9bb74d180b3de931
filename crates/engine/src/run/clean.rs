//! Removes what is no longer needed in `.terca`: layers that nobody uses, and runs that ended long ago.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::host::package_caches::PACKAGES;
use crate::run::files::{EVENTS, open_run, runs_dir};
use crate::run::journal::is_going_on;
use crate::run::past_runs;
use crate::tree::{Dir, Options, measure};
use crate::workspace::layers;
use crate::workspace::own_dirs::remove_and_tell;

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
    /// A layer that `prepare` made.
    Layer,
    /// Downloads of package managers.
    Downloads,
    /// A run.
    Run,
}

/// Returns all layers, and the runs whose last event is older than this. [`remove`] leaves those in use alone.
pub fn removable(suite_dir: &Utf8Path, older_than: Duration) -> Vec<Removable> {
    let mut found = Vec::new();
    if let Ok(entries) = layers::cache_dir(suite_dir).read_dir_utf8() {
        let layers = entries.flatten().filter(|entry| entry.path().is_dir());
        found.extend(layers.map(|entry| {
            let is_layer = entry.file_name() != PACKAGES;
            let kind = if is_layer {
                RemovableKind::Layer
            } else {
                RemovableKind::Downloads
            };
            measured(entry.path(), kind)
        }));
    }
    let names = past_runs::names(suite_dir).unwrap_or_default();
    let dirs = names.iter().map(|name| runs_dir(suite_dir).join(name));
    let old = dirs.filter(|dir| age(dir).is_some_and(|age| age >= older_than) && !is_going_on(dir));
    found.extend(old.map(|dir| measured(&dir, RemovableKind::Run)));
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
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
pub fn remove(what: &Removable) -> Option<Vec<String>> {
    match what.kind {
        RemovableKind::Layer | RemovableKind::Downloads => layers::remove_unused(&what.path),
        RemovableKind::Run if is_going_on(&what.path) => None,
        RemovableKind::Run => Some(remove_and_tell(&what.path)),
    }
}
