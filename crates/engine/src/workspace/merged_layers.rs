//! The layers of a workspace, one over the other, without their content.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;

use crate::locked;
use crate::tree::{Dir, Kind, Meta, Options, TreeError, Visit, walk};
use crate::workspace::base_layers::BaseLayer;

/// The entries that a workspace starts with when its layers are copied one over the other.
#[derive(Debug, Default)]
pub struct MergedLayers {
    names: Vec<String>,
    places: Vec<Utf8PathBuf>,
    layers: Vec<Arc<Dir>>,
    entries: BTreeMap<PathBuf, Held>,
    /// The bytes that the files take.
    bytes: u64,
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
            places: layers.iter().map(|layer| layer.tree.clone()).collect(),
            ..MergedLayers::default()
        };
        for layer in layers {
            let dir = Dir::open_no_link(&layer.tree)?;
            let number = merged.layers.len();
            walk(&dir, options, &mut |entry, meta| {
                merged.add(entry.path, number, *meta);
                Ok(Visit::Continue)
            })?;
            merged.layers.push(Arc::new(dir));
        }
        let files = merged.entries.values().map(|held| held.meta);
        for meta in files.filter(Meta::is_file) {
            merged.bytes += meta.allocated.min(meta.size);
        }
        Ok(merged)
    }

    /// Adds an entry over those that are there: two directories are joined, anything else is replaced.
    fn add(&mut self, path: &Path, layer: usize, meta: Meta) {
        let before = self.entries.insert(path.to_owned(), Held { layer, meta });
        if before.is_some_and(|before| before.meta.is_dir()) && !meta.is_dir() {
            let below: Vec<PathBuf> = self.below(path).map(|(path, _)| path.to_owned()).collect();
            for path in below {
                self.entries.remove(&path);
            }
        }
    }

    /// Returns the entries in a directory and in those below it.
    pub fn below(&self, dir: &Path) -> impl Iterator<Item = (&Path, &Held)> {
        let start = (Bound::Excluded(dir), Bound::Unbounded);
        let entries = self.entries.range::<Path, _>(start);
        entries
            .map(|(path, held)| (path.as_path(), held))
            .take_while(move |(path, _)| path.starts_with(dir))
    }

    /// Returns the number of entries, and the bytes that files take.
    pub fn measure(&self) -> (u64, u64) {
        (self.entries.len() as u64, self.bytes)
    }

    /// Returns the directories of the layers, lowest first.
    pub fn places(&self) -> &[Utf8PathBuf] {
        &self.places
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

    /// Returns the layer that has a file as it is in a workspace.
    pub fn source_of(&self, path: &Path, meta: &Meta) -> Option<&Arc<Dir>> {
        let (_, held) = self.get(path)?;
        let is_same = (held.meta.size, held.meta.modified) == (meta.size, meta.modified);
        (held.meta.is_file() && is_same).then(|| self.layer(held).ok())?
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

    /// Returns the layer of an entry.
    pub fn layer(&self, held: &Held) -> Result<&Arc<Dir>, TreeError> {
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
