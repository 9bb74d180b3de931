//! Saves a workspace as what changed in its layers.

use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::tree::{
    Choice, Dir, Entry, Kind, Meta, Options, TreeError, Visit, have_same_content, transfer, walk,
};
use crate::workspace::merged_layers::{Held, MergedLayers};
use crate::workspace::overlay_base::Hidden;
use crate::workspace::saved::{CHANGES, TREE, record};

/// Says of a file whether nobody has touched it since the layers were copied.
pub type IsUntouched<'a> = &'a dyn Fn(&Path, &Meta) -> bool;

/// Moves what changed in a workspace into a trial's directory. The rest stays, to be removed with the workspace.
pub fn save(
    workspace: &Dir,
    layers: &MergedLayers,
    is_untouched: IsUntouched<'_>,
    folder: &Dir,
    options: &Options<'_>,
) -> Result<(), TreeError> {
    let found = Found::by_walk(workspace, layers, is_untouched, options)?;
    write_down(workspace, layers, found, folder, options)
}

/// Does the same for a workspace that was an overlay, from the directory of its changes. It must not be mounted.
pub fn save_overlay(
    changes: &Dir,
    layers: &MergedLayers,
    folder: &Dir,
    options: &Options<'_>,
) -> Result<(), TreeError> {
    let found = Found::in_changes(changes, layers, options)?;
    write_down(changes, layers, found, folder, options)
}

fn write_down(
    workspace: &Dir,
    layers: &MergedLayers,
    found: Found,
    folder: &Dir,
    options: &Options<'_>,
) -> Result<(), TreeError> {
    let changes = folder.create_dir(CHANGES, 0o777)?;
    let tree = changes.create_dir(TREE, 0o700)?;
    transfer(workspace, &tree, options, &mut |entry| {
        Ok(if found.changed.contains(entry.path) {
            Choice::Move
        } else if found.above.contains(entry.path) {
            Choice::Copy
        } else {
            Choice::Leave
        })
    })?;
    tree.set_facts(workspace.meta())?;
    let record = record::Record {
        version: record::VERSION,
        layers: layers.names().to_vec(),
        removed: found.removed,
    };
    // Last: without it there is nothing that is taken for a saved workspace.
    write(&changes, &record)
}

fn write(changes: &Dir, record: &record::Record) -> Result<(), TreeError> {
    let refused = |error| TreeError::io(changes.path().join(record::NAME), error);
    let mut text =
        serde_json::to_vec_pretty(record).map_err(|error| refused(std::io::Error::from(error)))?;
    text.push(b'\n');
    let mut file = changes.create_file(record::NAME, 0o666)?;
    file.write_all(&text).map_err(refused)
}

/// The differences between a workspace and its layers.
#[derive(Debug, Default)]
struct Found {
    /// Entries that are new or differ. A directory is one with everything in it.
    changed: HashSet<PathBuf>,
    /// Directories that are in both, and differ in themselves or in what is in them.
    above: HashSet<PathBuf>,
    /// The paths of the layers that are gone, as text.
    removed: Vec<String>,
}

impl Found {
    fn by_walk(
        workspace: &Dir,
        layers: &MergedLayers,
        is_untouched: IsUntouched<'_>,
        options: &Options<'_>,
    ) -> Result<Self, TreeError> {
        let mut found = Found::default();
        // The paths of the layers that are in the workspace too; of directories, those that are such in both.
        let mut seen: HashSet<&Path> = HashSet::new();
        let mut joined: HashSet<&Path> = HashSet::new();
        walk(workspace, options, &mut |entry, meta| {
            let held = layers.get(entry.path);
            let is_mount = meta.is_mount_in(entry.parent.meta());
            if let Some((path, held)) = held {
                seen.insert(path);
                if held.meta.is_dir() && meta.is_dir() && !is_mount {
                    joined.insert(path);
                    if !held.has_same_facts(meta) {
                        found.add_above(Some(path));
                    }
                    return Ok(Visit::Continue);
                }
                if !is_mount && is_same(layers, held, entry, meta, is_untouched, options)? {
                    return Ok(Visit::Continue);
                }
            }
            found.changed.insert(entry.path.to_owned());
            found.add_above(entry.path.parent());
            Ok(Visit::Skip)
        })?;
        for (path, _) in layers.entries() {
            let parent = path.parent().filter(|parent| *parent != Path::new(""));
            if !seen.contains(path) && parent.is_none_or(|parent| joined.contains(parent)) {
                found.removed.push(record::text_of(path));
                found.add_above(parent);
            }
        }
        Ok(found)
    }

    fn in_changes(
        changes: &Dir,
        layers: &MergedLayers,
        options: &Options<'_>,
    ) -> Result<Self, TreeError> {
        let mut found = Found::default();
        let mut hidden = Hidden::default();
        // Directories of the layers that are still directories, whose entries may be hidden.
        let mut joined: BTreeSet<PathBuf> = BTreeSet::new();
        walk(changes, options, &mut |entry, meta| {
            if !hidden.note(entry, meta)? {
                return Ok(Visit::Continue);
            }
            match layers.get(entry.path) {
                Some((path, held)) if held.meta.is_dir() && meta.is_dir() => {
                    joined.insert(path.to_owned());
                    if !held.has_same_facts(meta) {
                        found.add_above(Some(path));
                    }
                    Ok(Visit::Continue)
                }
                Some((_, held)) if is_same(layers, held, entry, meta, &|_, _| false, options)? => {
                    Ok(Visit::Continue)
                }
                _ => {
                    found.changed.insert(entry.path.to_owned());
                    found.add_above(entry.path.parent());
                    Ok(Visit::Skip)
                }
            }
        })?;
        for path in hidden.removed_from(layers) {
            let parent = path.parent().filter(|parent| *parent != Path::new(""));
            if parent.is_none_or(|parent| joined.contains(parent)) {
                found.removed.push(record::text_of(path));
                found.add_above(parent);
            }
        }
        Ok(found)
    }

    /// Adds a directory and all above it: the time of a directory changes with what is in it, and may have been set back.
    fn add_above(&mut self, dir: Option<&Path>) {
        let dirs = dir.into_iter().flat_map(Path::ancestors);
        for dir in dirs.take_while(|dir| *dir != Path::new("")) {
            if !self.above.insert(dir.to_owned()) {
                return;
            }
        }
    }
}

/// Returns whether an entry that is no directory is as its layer has it.
fn is_same(
    layers: &MergedLayers,
    held: &Held,
    entry: &Entry<'_>,
    meta: &Meta,
    is_untouched: IsUntouched<'_>,
    options: &Options<'_>,
) -> Result<bool, TreeError> {
    if !held.has_same_facts(meta) {
        return Ok(false);
    }
    match meta.kind {
        Kind::File if is_untouched(entry.path, meta) => Ok(true),
        Kind::File => {
            let before = layers.open(entry.path, held)?;
            have_same_content(&before, &entry.open()?, options)
        }
        Kind::Link => Ok(layers.read_link(entry.path, held)? == entry.read_link()?),
        Kind::Fifo => Ok(true),
        Kind::Dir | Kind::Socket | Kind::Device => Ok(false),
    }
}
