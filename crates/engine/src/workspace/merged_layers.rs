//! The layers of a workspace, one over the other, without their content.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;

use crate::locked;
use crate::tree::{Dir, Kind, Meta, Options, TreeError, Visit, walk};
use crate::workspace::base_layers::BaseLayer;

/// The entries that a workspace starts with when its layers are copied one over the other.
#[derive(Debug, Default)]
pub struct MergedLayers {
    /// The names of the layers, lowest first.
    pub names: Vec<String>,
    /// The directories of the layers, lowest first.
    pub places: Vec<Utf8PathBuf>,
    entries: BTreeMap<PathBuf, Held>,
    /// The bytes that the files take.
    bytes: u64,
}

/// An entry of a layer that no higher layer replaces.
#[derive(Debug)]
pub struct Held {
    /// The layer.
    pub layer: Arc<Dir>,
    /// The facts about it.
    pub meta: Meta,
}

impl MergedLayers {
    /// Reads the layers, lowest first.
    pub fn read(layers: &[BaseLayer], options: &Options<'_>) -> Result<Self, TreeError> {
        let mut merged = MergedLayers {
            names: layers.iter().map(|layer| layer.hash.clone()).collect(),
            places: layers.iter().map(|layer| layer.tree.clone()).collect(),
            ..MergedLayers::default()
        };
        for layer in layers {
            let layer = Arc::new(Dir::open_no_link(&layer.tree)?);
            walk(&layer, options, &mut |entry, meta| {
                let (layer, meta) = (layer.clone(), *meta);
                merged.add(entry.path, Held { layer, meta });
                Ok(Visit::Continue)
            })?;
        }
        let files = merged.entries.values().map(|held| held.meta);
        for meta in files.filter(Meta::is_file) {
            merged.bytes += meta.allocated.min(meta.size);
        }
        Ok(merged)
    }

    /// Adds an entry over those that are there: two directories are joined, anything else is replaced.
    fn add(&mut self, path: &Path, held: Held) {
        let is_dir = held.meta.is_dir();
        let before = self.entries.insert(path.to_owned(), held);
        if before.is_some_and(|before| before.meta.is_dir()) && !is_dir {
            self.entries
                .retain(|other, _| other == path || !other.starts_with(path));
        }
    }

    /// Returns the number of entries, and the bytes that files take.
    pub fn measure(&self) -> (u64, u64) {
        (self.entries.len() as u64, self.bytes)
    }

    /// Returns the entry at a path, with the path.
    pub fn get(&self, path: &Path) -> Option<(&Path, &Held)> {
        let (path, held) = self.entries.get_key_value(path)?;
        Some((path, held))
    }

    /// Returns the layer that has a file as it is in a workspace.
    pub fn source_of(&self, path: &Path, meta: &Meta) -> Option<&Arc<Dir>> {
        let (_, held) = self.get(path)?;
        let is_same = (held.meta.size, held.meta.modified) == (meta.size, meta.modified);
        (held.meta.is_file() && is_same).then_some(&held.layer)
    }

    /// Returns all entries, a directory before what is in it.
    pub fn entries(&self) -> impl Iterator<Item = (&Path, &Held)> {
        let entries = self.entries.iter();
        entries.map(|(path, held)| (path.as_path(), held))
    }
}

/// The layers of the workspaces of a run. Workspaces that start from the same ones share them.
#[derive(Debug, Default)]
pub struct MergedLayersOfRun {
    known: Mutex<HashMap<Vec<String>, Arc<MergedLayers>>>,
}

impl MergedLayersOfRun {
    /// Returns the layers, read once.
    pub fn get(
        &self,
        layers: &[BaseLayer],
        options: &Options<'_>,
    ) -> Result<Arc<MergedLayers>, TreeError> {
        let names: Vec<String> = layers.iter().map(|layer| layer.hash.clone()).collect();
        let mut known = locked(&self.known);
        if let Some(merged) = known.get(&names) {
            return Ok(merged.clone());
        }
        let merged = Arc::new(MergedLayers::read(layers, options)?);
        known.insert(names, merged.clone());
        Ok(merged)
    }
}

impl Held {
    /// Returns whether an entry has the same kind, permissions, length and time. The permissions of a link mean
    /// nothing, nor does the length of a directory.
    pub fn has_same_facts(&self, meta: &Meta) -> bool {
        let held = &self.meta;
        held.kind == meta.kind
            && held.modified == meta.modified
            && (meta.kind == Kind::Link || held.permissions() == meta.permissions())
            && (meta.kind != Kind::File || held.size == meta.size)
    }
}
