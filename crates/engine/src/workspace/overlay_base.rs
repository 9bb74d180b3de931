//! The files of an overlay's layers, as they were seen when the agent started, and those that changes hide.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::tree::{Dir, Entry, Limits, Meta, TreeError};
use crate::workspace::merged_layers::{Held, MergedLayers};
use crate::workspace::overlay::OPAQUE;

/// The names of the layers that a directory of changes hides.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// Removed names.
    whiteouts: BTreeSet<PathBuf>,
    /// Directories in which nothing of the layers is seen.
    opaque: BTreeSet<PathBuf>,
    /// Directories that are joined with those of the layers.
    dirs: BTreeSet<PathBuf>,
    /// Everything else.
    others: BTreeSet<PathBuf>,
}

impl Hidden {
    /// Notes an entry of the changes. Returns whether it is there for those who work in the workspace.
    pub(super) fn note(&mut self, entry: &Entry<'_>, meta: &Meta) -> Result<bool, TreeError> {
        let path = entry.path.to_owned();
        if meta.is_whiteout {
            self.whiteouts.insert(path);
            return Ok(false);
        }
        if !meta.is_dir() {
            self.others.insert(path);
        } else if entry.has_attribute(OPAQUE.0, OPAQUE.1)? {
            self.opaque.insert(path);
        } else {
            self.dirs.insert(path);
        }
        Ok(true)
    }

    /// Returns the entries of the layers that are removed by themselves, or in a directory of which nothing is seen.
    pub(super) fn removed_from<'a>(&self, layers: &'a MergedLayers) -> BTreeSet<&'a Path> {
        let removed = self.whiteouts.iter().filter_map(|path| layers.get(path));
        let unseen = self.opaque.iter().flat_map(|dir| layers.below(dir));
        let is_there = |path: &Path| {
            let there = [&self.opaque, &self.dirs, &self.others];
            there.into_iter().any(|paths| paths.contains(path))
        };
        let paths = removed.chain(unseen).map(|(path, _)| path);
        paths.filter(|path| !is_there(path)).collect()
    }

    /// Returns whether a file or link that the layers have is not seen.
    pub(super) fn hides(&self, path: &Path) -> bool {
        let here = |path: &Path| self.whiteouts.contains(path) || self.others.contains(path);
        let above = |path: &Path| here(path) || self.opaque.contains(path);
        // A directory in the place of a file hides it, too.
        here(path)
            || self.opaque.contains(path)
            || self.dirs.contains(path)
            || path.ancestors().skip(1).any(above)
    }
}

/// The layers of an overlay, as they were seen when the agent started.
#[derive(Debug)]
pub struct OverlayBase {
    layers: Arc<MergedLayers>,
    changes: Utf8PathBuf,
    hidden: Hidden,
}

impl OverlayBase {
    /// Describes layers with a directory of changes above them.
    pub fn new(layers: Arc<MergedLayers>, changes: Utf8PathBuf) -> Self {
        OverlayBase {
            layers,
            changes,
            hidden: Hidden::default(),
        }
    }

    /// Returns the directory with the changes.
    pub(super) fn changes(&self) -> Result<Dir, TreeError> {
        Dir::open_no_link(&self.changes)
    }

    /// Notes an entry of the changes as they are before the agent starts.
    pub(super) fn note(&mut self, entry: &Entry<'_>, meta: &Meta) -> Result<bool, TreeError> {
        self.hidden.note(entry, meta)
    }

    /// Returns the limits of the changes, where a whole workspace has these.
    pub(super) fn limits_above(&self, limits: Limits) -> Limits {
        let (entries, bytes) = self.layers.measure();
        Limits {
            bytes: limits.bytes.saturating_sub(bytes),
            entries: limits.entries.saturating_sub(entries),
            ..limits
        }
    }

    /// Returns the `.gitignore` files of the layers that are seen.
    pub(super) fn gitignores(&self) -> impl Iterator<Item = &Path> {
        let all = self.layers.entries().filter(|(path, held)| {
            !held.meta.is_dir() && path.file_name().is_some_and(|name| name == ".gitignore")
        });
        all.map(|(path, _)| path)
            .filter(|path| !self.hidden.hides(path))
    }

    /// Returns whether a file of the layers has this size.
    pub(super) fn has_size(&self, size: u64) -> bool {
        self.layers.has_size(size)
    }

    /// Returns the file at a path when the agent started, and the layer that has it. No directory is returned.
    pub(super) fn file_before(&self, path: &Path) -> Option<(&Arc<Dir>, Meta)> {
        let (_, held) = self.layers.get(path)?;
        if held.meta.is_dir() || self.hidden.hides(path) {
            return None;
        }
        Some((self.layers.layer(held).ok()?, held.meta))
    }

    /// Returns the files that were seen when the agent started, and that its changes hide.
    pub(super) fn hidden_since(&self, now: &Hidden) -> BTreeSet<&Path> {
        let mut found = BTreeSet::new();
        let mut add = |(path, held): (_, &Held)| {
            if !held.meta.is_dir() {
                found.insert(path);
            }
        };
        for path in [&now.whiteouts, &now.opaque, &now.others]
            .into_iter()
            .flatten()
        {
            self.layers.get(path).into_iter().for_each(&mut add);
            self.layers.below(path).for_each(&mut add);
        }
        for path in &now.dirs {
            self.layers.get(path).into_iter().for_each(&mut add);
        }
        found.retain(|path| !now.others.contains(*path) && !self.hidden.hides(path));
        found
    }
}
