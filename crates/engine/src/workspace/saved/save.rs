//! Saves a workspace as what changed in its layers.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::tree::{
    Choice, Dir, Entry, Kind, Meta, Options, TreeError, Visit, have_same_content, transfer, walk,
};
use crate::workspace::changes::Snapshot;
use crate::workspace::merged_layers::{Held, MergedLayers};
use crate::workspace::saved::{CHANGES, RECORD, Record, TREE, VERSION, text_of};

/// The differences between a workspace and its layers.
#[derive(Debug, Default)]
pub struct Differences {
    /// Entries that are new or differ. A directory is one with everything in it.
    changed: HashSet<PathBuf>,
    /// Directories that are in both, and differ in themselves or in what is in them.
    above: HashSet<PathBuf>,
    /// The names of the layers, and the paths of them that are gone.
    record: Record,
}

fn write(changes: &Dir, record: &Record) -> Result<(), TreeError> {
    let refused = |error| TreeError::io(changes.path().join(RECORD), error);
    let mut text =
        serde_json::to_vec_pretty(record).map_err(|error| refused(std::io::Error::from(error)))?;
    text.push(b'\n');
    let mut file = changes.create_file(RECORD, 0o666)?;
    file.write_all(&text).map_err(refused)
}

impl Differences {
    /// Looks for the differences. Files that nobody has touched since a snapshot are not read.
    pub fn find(
        workspace: &Dir,
        layers: &MergedLayers,
        snapshot: Option<&Snapshot>,
        options: &Options<'_>,
    ) -> Result<Self, TreeError> {
        let mut found = Differences::default();
        // The paths of the layers that are there too; of directories, those that are such in both.
        let mut seen: HashSet<&Path> = HashSet::new();
        let mut joined: HashSet<&Path> = HashSet::from([Path::new("")]);
        walk(workspace, options, &mut |entry, meta| {
            let held = layers.get(entry.path);
            seen.extend(held.map(|(path, _)| path));
            if let Some((path, held)) = held.filter(|_| !entry.is_mount) {
                if held.meta.is_dir() && meta.is_dir() {
                    joined.insert(path);
                    if !held.has_same_facts(meta) {
                        found.add_above(Some(path));
                    }
                    return Ok(Visit::Continue);
                }
                if is_same(held, entry, meta, snapshot, options)? {
                    return Ok(Visit::Continue);
                }
            }
            found.changed.insert(entry.path.to_owned());
            found.add_above(entry.path.parent());
            Ok(Visit::Skip)
        })?;
        for (path, _) in layers.entries() {
            let parent = path.parent();
            if !seen.contains(path) && parent.is_some_and(|parent| joined.contains(parent)) {
                found.record.removed.push(text_of(path));
                found.add_above(parent);
            }
        }
        found.record.version = VERSION;
        found.record.layers = layers.names.clone();
        Ok(found)
    }

    /// Moves what differs into a trial's directory. The rest stays, to be removed with the workspace. `from` is the
    /// workspace or, of one that was mounted, the directory with the changes.
    pub fn save(&self, from: &Dir, folder: &Dir, options: &Options<'_>) -> Result<(), TreeError> {
        let changes = folder.create_dir(CHANGES, 0o777)?;
        let tree = changes.create_dir(TREE, 0o700)?;
        transfer(from, &tree, options, &mut |entry| {
            Ok(if self.changed.contains(entry.path) {
                Choice::Move
            } else if self.above.contains(entry.path) {
                Choice::Copy
            } else {
                Choice::Leave
            })
        })?;
        tree.set_facts(from.meta())?;
        // Last: without it there is nothing that is taken for a saved workspace.
        write(&changes, &self.record)
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
    held: &Held,
    entry: &Entry<'_>,
    meta: &Meta,
    snapshot: Option<&Snapshot>,
    options: &Options<'_>,
) -> Result<bool, TreeError> {
    if !held.has_same_facts(meta) {
        return Ok(false);
    }
    match meta.kind {
        Kind::File if snapshot.is_some_and(|taken| taken.is_untouched(entry.path, meta)) => {
            Ok(true)
        }
        Kind::File => {
            let before = held.layer.open_file(entry.path)?;
            have_same_content(&before, &entry.open()?, options)
        }
        Kind::Link => Ok(held.layer.read_link(entry.path)? == entry.read_link()?),
        Kind::Dir | Kind::Other => Ok(false),
    }
}
