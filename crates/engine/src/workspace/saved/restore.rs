//! Makes a saved workspace again.
//!
//! The run may come from somebody else. So names of layers are names and nothing else, everything is opened beneath the
//! run's directory or that of the layers beside all runs, no link is followed, and paths that are gone are left out of the copies of layers instead of being
//! removed. A layer is used only if its content has the hash that its name says.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use camino::Utf8Path;
use thiserror::Error;

use crate::locked;
use crate::tree::{Dir, Options, TreeError, Visit, copy, hash, walk};
use crate::workspace::base_layers::{LAYERS, content_hash_in, layers_beside};
use crate::workspace::saved::{CHANGES, RECORD, Record, TREE, VERSION, WORKSPACE, path_of};

/// A larger `changes.json` is not read: that of a million removed files has a part of it.
const LARGEST_RECORD: u64 = 256 << 20;
/// A file that the directory of every trial has.
const LOG: &str = "run.log";
/// The directory of a trial with its earlier attempts.
const ATTEMPTS: &str = "attempts";

/// The reason why a saved workspace cannot be made again.
#[derive(Debug, Error)]
pub enum RestoreError {
    /// The trial has no saved workspace.
    #[error("the workspace was not kept")]
    NotSaved,
    /// The record of the changes cannot be read.
    #[error("{CHANGES}/{} is damaged: {reason}", RECORD)]
    Record {
        /// What is wrong with it.
        reason: String,
    },
    /// Another version of Terca saved it.
    #[error("it was saved by another version of Terca (version {0} of {CHANGES})")]
    OtherVersion(u32),
    /// A file of the trial is not the one that the journal has the hash of.
    #[error("`{name}` {reason}: it is not what the journal has the hash of")]
    Changed {
        /// The file or directory, in the trial's folder.
        name: String,
        /// What happened to it.
        reason: &'static str,
    },
    /// A layer is not there.
    #[error(
        "{LAYERS}/{name} is missing, which the workspace started from: {source}; copy it from `.terca/{LAYERS}` of the suite \
         that made the run to {LAYERS}/ in the run's directory"
    )]
    NoLayer {
        /// Its name.
        name: String,
        /// The system's answer.
        source: TreeError,
    },
    /// A layer is not as it was saved.
    #[error("{LAYERS}/{name} is damaged: its files are not those that the workspace started from")]
    DamagedLayer {
        /// Its name.
        name: String,
    },
    /// Files cannot be read or written.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// The layers of a run that have been read and found whole. Each is read once.
#[derive(Debug, Default)]
pub struct CheckedLayers {
    known: Mutex<HashSet<String>>,
}

/// A saved workspace that can be made again.
#[derive(Debug)]
pub enum Saved {
    /// It was saved as a whole.
    Whole(Dir),
    /// It was saved as what changed in its layers.
    Changed {
        /// The layers, lowest first.
        layers: Vec<Dir>,
        /// The paths of the layers that are gone.
        removed: HashSet<PathBuf>,
        /// Everything that is new or differs.
        tree: Dir,
    },
}

impl Saved {
    /// Opens the workspace that a trial of a run has saved.
    pub fn open(
        run: &Dir,
        trial_dir: &Utf8Path,
        checked: &CheckedLayers,
        options: &Options<'_>,
    ) -> Result<Self, RestoreError> {
        let folder = match run.open_dir(trial_dir) {
            Err(error) if error.is_not_found() => return Err(RestoreError::NotSaved),
            folder => folder?,
        };
        // A link to a workspace is none: that of a trial in flight, or one that somebody planted.
        match folder.open_dir(WORKSPACE) {
            Ok(whole) => return Ok(Saved::Whole(whole)),
            Err(error) if error.is_not_found() => {}
            Err(_) => return Err(RestoreError::NotSaved),
        }
        let changes = match folder.open_dir(CHANGES) {
            Ok(changes) => changes,
            Err(error) if error.is_not_found() => return Err(RestoreError::NotSaved),
            Err(error) => return Err(error.into()),
        };
        let record = read(&changes)?;
        let removed = record.removed.iter().map(|text| path_of(text)).collect();
        let removed: Option<HashSet<PathBuf>> = removed;
        let layers = record.layers.iter();
        Ok(Saved::Changed {
            layers: layers
                .map(|name| checked.open(run, name, options))
                .collect::<Result<_, _>>()?,
            removed: removed.ok_or_else(|| RestoreError::Record {
                reason: "a path in `removed` is not written as paths are".to_owned(),
            })?,
            tree: changes.open_dir(TREE)?,
        })
    }

    /// Puts the workspace into an empty directory, which takes its permissions too.
    pub fn restore(&self, to: &Dir, options: &Options<'_>) -> Result<(), TreeError> {
        let root = match self {
            Saved::Whole(whole) => whole,
            Saved::Changed {
                layers,
                removed,
                tree,
            } => {
                // Several trials may be made again at once from the same layers, which everybody may read.
                let reading = Options {
                    unlock: false,
                    ..*options
                };
                for layer in layers {
                    copy(layer, to, &reading, &mut |entry| {
                        Ok(!removed.contains(entry.path))
                    })?;
                }
                tree
            }
        };
        copy(root, to, options, &mut |_| Ok(true))?;
        to.set_facts(root.meta())
    }
}

fn read(changes: &Dir) -> Result<Record, RestoreError> {
    let damaged = |reason: String| RestoreError::Record { reason };
    let text = changes
        .read_file(RECORD, LARGEST_RECORD)
        .map_err(|error| damaged(reason(error)))?;
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if let Some(other) = version.filter(|version| *version != u64::from(VERSION)) {
        let other = other.try_into().unwrap_or(u32::MAX);
        return Err(RestoreError::OtherVersion(other));
    }
    serde_json::from_value(value).map_err(|error| damaged(error.to_string()))
}

/// Returns the reason of an error, for a message that names the file by itself.
fn reason(error: TreeError) -> String {
    match error {
        TreeError::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

/// Opens a layer of a run: its own, or the one that all runs beside it share.
pub(crate) fn open_layer(run: &Dir, name: &str) -> Result<Dir, TreeError> {
    let own = run.open_dir(Path::new(LAYERS).join(name));
    match layers_beside(run.path()) {
        Some(shared) if own.as_ref().is_err_and(TreeError::is_not_found) => {
            Dir::open(shared)?.open_dir(name)
        }
        _ => own,
    }
}

/// Returns the names of the layers that the saved workspaces of a run started from.
pub fn layers_of(run: &Dir) -> Result<BTreeSet<String>, RestoreError> {
    let mut folders = Vec::new();
    walk(run, &Options::reading(), &mut |entry, meta| {
        // The directory of a trial, or of an earlier attempt. An eval may have any name.
        let is_of_trial = meta.is_dir() && entry.parent.meta_at(LOG)?.is_some();
        if is_of_trial && entry.name == CHANGES {
            folders.push(entry.path.to_owned());
        }
        Ok(match is_of_trial && entry.name != ATTEMPTS {
            true => Visit::Skip,
            false => Visit::Continue,
        })
    })?;
    let mut names = BTreeSet::new();
    for folder in folders {
        names.extend(read(&run.open_dir(folder)?)?.layers);
    }
    Ok(names)
}

impl CheckedLayers {
    /// Opens a layer of a run, and makes sure that it is the one that its name says.
    fn open(&self, run: &Dir, name: &str, options: &Options<'_>) -> Result<Dir, RestoreError> {
        let Some(content) = content_hash_in(name) else {
            let reason = format!("{name:?} is no name in {LAYERS}");
            return Err(RestoreError::Record { reason });
        };
        let no_layer = |source| RestoreError::NoLayer {
            name: name.to_owned(),
            source,
        };
        let layer = open_layer(run, name).map_err(no_layer)?;
        // One trial reads it, while the others wait.
        let mut known = locked(&self.known);
        if known.contains(name) {
            return Ok(layer);
        }
        let reading = Options {
            unlock: false,
            ..*options
        };
        let found = match hash(&layer, &reading) {
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => {
                return Err(error.into());
            }
            found => found.ok(),
        };
        if found.as_deref() != Some(content) {
            let name = name.to_owned();
            return Err(RestoreError::DamagedLayer { name });
        }
        known.insert(name.to_owned());
        Ok(layer)
    }
}
