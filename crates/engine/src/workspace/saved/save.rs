//! Saves a workspace as what changed in its layers.

use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::tree::{
    Choice, Dir, Entry, Kind, Meta, Options, TreeError, Visit, have_same_content, transfer, walk,
};
use crate::workspace::merged_layers::{Held, MergedLayers};
use crate::workspace::overlay_base::Hidden;
use crate::workspace::saved::{CHANGES, RECORD, Record, TREE, VERSION, text_of};

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
    let found = Differences::of(workspace, layers, Some(is_untouched), options)?;
    write_down(workspace, layers, found, folder, options)
}

/// Does the same for a workspace that was an overlay, from the directory of its changes. It must not be mounted.
pub fn save_overlay(
    changes: &Dir,
    layers: &MergedLayers,
    folder: &Dir,
    options: &Options<'_>,
) -> Result<(), TreeError> {
    let found = Differences::of(changes, layers, None, options)?;
    write_down(changes, layers, found, folder, options)
}

fn write_down(
    workspace: &Dir,
    layers: &MergedLayers,
    found: Differences,
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
    let record = Record {
        version: VERSION,
        layers: layers.names().to_vec(),
        removed: found.removed,
    };
    // Last: without it there is nothing that is taken for a saved workspace.
    write(&changes, &record)
}

fn write(changes: &Dir, record: &Record) -> Result<(), TreeError> {
    let refused = |error| TreeError::io(changes.path().join(RECORD), error);
    let mut text =
        serde_json::to_vec_pretty(record).map_err(|error| refused(std::io::Error::from(error)))?;
    text.push(b'\n');
    let mut file = changes.create_file(RECORD, 0o666)?;
    file.write_all(&text).map_err(refused)
}

/// The differences between a workspace and its layers.
#[derive(Debug, Default)]
struct Differences {
    /// Entries that are new or differ. A directory is one with everything in it.
    changed: HashSet<PathBuf>,
    /// Directories that are in both, and differ in themselves or in what is in them.
    above: HashSet<PathBuf>,
    /// The paths of the layers that are gone, as text.
    removed: Vec<String>,
}

impl Differences {
    /// Looks for the differences in a workspace or, without `is_untouched`, in the changes of an overlay.
    fn of(
        root: &Dir,
        layers: &MergedLayers,
        is_untouched: Option<IsUntouched<'_>>,
        options: &Options<'_>,
    ) -> Result<Self, TreeError> {
        let mut found = Differences::default();
        let mut hidden = Hidden::default();
        // The paths of the layers that are there too; of directories, those that are such in both.
        let mut seen: HashSet<&Path> = HashSet::new();
        let mut joined: HashSet<&Path> = HashSet::new();
        walk(root, options, &mut |entry, meta| {
            if is_untouched.is_none() && !hidden.note(entry, meta)? {
                return Ok(Visit::Continue);
            }
            let held = layers.get(entry.path);
            seen.extend(held.map(|(path, _)| path));
            let is_mount = meta.is_mount_in(entry.parent.meta());
            if let Some((path, held)) = held.filter(|_| !is_mount) {
                if held.meta.is_dir() && meta.is_dir() {
                    joined.insert(path);
                    if !held.has_same_facts(meta) {
                        found.add_above(Some(path));
                    }
                    return Ok(Visit::Continue);
                }
                if is_same(layers, held, entry, meta, is_untouched, options)? {
                    return Ok(Visit::Continue);
                }
            }
            found.changed.insert(entry.path.to_owned());
            found.add_above(entry.path.parent());
            Ok(Visit::Skip)
        })?;
        let removed: BTreeSet<&Path> = match is_untouched {
            None => hidden.removed_from(layers),
            Some(_) => {
                let paths = layers.entries().map(|(path, _)| path);
                paths.filter(|path| !seen.contains(path)).collect()
            }
        };
        for path in removed {
            let parent = path.parent().filter(|parent| *parent != Path::new(""));
            if parent.is_none_or(|parent| joined.contains(parent)) {
                found.removed.push(text_of(path));
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
    is_untouched: Option<IsUntouched<'_>>,
    options: &Options<'_>,
) -> Result<bool, TreeError> {
    if !held.has_same_facts(meta) {
        return Ok(false);
    }
    match meta.kind {
        Kind::File if is_untouched.is_some_and(|is| is(entry.path, meta)) => Ok(true),
        Kind::File => {
            let before = layers.open(entry.path, held)?;
            have_same_content(&before, &entry.open()?, options)
        }
        Kind::Link => Ok(layers.read_link(entry.path, held)? == entry.read_link()?),
        Kind::Fifo => Ok(true),
        Kind::Dir | Kind::Socket | Kind::Device => Ok(false),
    }
}
