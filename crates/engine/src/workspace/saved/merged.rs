//! The layers of a workspace, one over the other, without their content.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::tree::{Dir, Kind, Meta, Options, TreeError, Visit, walk};
use crate::workspace::base_layers::BaseLayer;

/// The entries that a workspace starts with when its layers are copied one over the other.
#[derive(Debug)]
pub struct MergedLayers {
    names: Vec<String>,
    layers: Vec<Dir>,
    entries: BTreeMap<PathBuf, Held>,
}

/// An entry of a layer that no higher layer replaces.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    layer: usize,
    /// The facts about it.
    pub meta: Meta,
}

impl MergedLayers {
    /// Reads the layers, lowest first.
    pub fn read(layers: &[BaseLayer], options: &Options<'_>) -> Result<Self, TreeError> {
        let mut merged = MergedLayers {
            names: layers.iter().map(|layer| layer.hash.clone()).collect(),
            layers: Vec::new(),
            entries: BTreeMap::new(),
        };
        for layer in layers {
            let dir = Dir::open_no_link(&layer.tree)?;
            let number = merged.layers.len();
            walk(&dir, options, &mut |entry, meta| {
                merged.add(entry.path, number, *meta);
                Ok(Visit::Continue)
            })?;
            merged.layers.push(dir);
        }
        Ok(merged)
    }

    /// Adds an entry over those that are there: two directories are joined, anything else is replaced.
    fn add(&mut self, path: &Path, layer: usize, meta: Meta) {
        let before = self.entries.insert(path.to_owned(), Held { layer, meta });
        if before.is_some_and(|before| before.meta.is_dir()) && !meta.is_dir() {
            let start = (Bound::Excluded(path), Bound::Unbounded);
            let below = self.entries.range::<Path, _>(start).map(|(path, _)| path);
            let below: Vec<PathBuf> = below
                .take_while(|below| below.starts_with(path))
                .cloned()
                .collect();
            for path in below {
                self.entries.remove(&path);
            }
        }
    }

    /// Returns the names of the layers, lowest first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the entry at a path, with the path.
    pub fn get(&self, path: &Path) -> Option<(&Path, &Held)> {
        let (path, held) = self.entries.get_key_value(path)?;
        Some((path, held))
    }

    /// Returns all entries, a directory before what is in it.
    pub fn entries(&self) -> impl Iterator<Item = (&Path, &Held)> {
        let entries = self.entries.iter();
        entries.map(|(path, held)| (path.as_path(), held))
    }

    /// Opens a file of a layer.
    pub fn open(&self, path: &Path, held: &Held) -> Result<File, TreeError> {
        self.layer(held)?.open_file(path)
    }

    /// Returns the text of a link of a layer.
    pub fn read_link(&self, path: &Path, held: &Held) -> Result<PathBuf, TreeError> {
        self.layer(held)?.read_link(path)
    }

    fn layer(&self, held: &Held) -> Result<&Dir, TreeError> {
        let missing = || TreeError::io("", std::io::ErrorKind::NotFound);
        self.layers.get(held.layer).ok_or_else(missing)
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
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
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
