//! Turns the user's YAML into a [`Suite`] in which every path is checked and every default is filled in.
//!
//! Each file declares the fields of one map and makes the resolved type of them, in one step: `suite`, `eval`,
//! `setup` (environments and experiments), `action`, `mcp_server`, `test` and `workers`. Problems of all files are
//! collected in one [`Diagnostics`]. The JSON Schemas and the tables of the reference come from the same declarations
//! ([`schema`]).

mod action;
pub mod adaptive;
pub mod dockerfile;
mod eval;
pub mod gateway;
mod limits;
mod mcp_server;
mod names;
mod network;
pub mod package_cache;
pub mod sandbox;
pub mod schema;
pub(crate) mod service;
pub(crate) mod setup;
pub mod suite;
mod suite_settings;
mod test;
mod variables;
pub mod verdict;
mod workers;

use camino::Utf8PathBuf;
use serde::Serialize;
use serde_json::{Map, Value};

pub use suite::Suite;

pub(crate) use names::one_folder;

pub use crate::reader::paths::{folder_name, normal};
pub use crate::reader::{Patch, PathKind, Surroundings};

use crate::reader::Reader;
use crate::text::Diagnostics;
use crate::text::source::{FileId, Sources};

/// The configuration files of a suite.
#[derive(Debug, Clone)]
pub struct ConfigFiles {
    /// The suite's directory, absolute.
    pub root: Utf8PathBuf,
    /// `terca.yaml`, where there is one.
    pub suite: Option<FileId>,
    /// `workers.yaml`, where there is one.
    pub workers: Option<FileId>,
    /// Every `eval.terca.yaml`, sorted by path.
    pub evals: Vec<FileId>,
}

/// Returns the settings of a [`suite::AppliedSetup`] by key. They are in `run.json` and in fingerprints.
pub fn settings(of: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(settings)) => settings,
        _ => Map::new(),
    }
}

/// Loads all files. Returns `None` when there was an error, which then is among the problems.
pub fn load(
    files: &ConfigFiles,
    sources: &Sources,
    surroundings: &dyn Surroundings,
    problems: &mut Diagnostics,
) -> Option<Suite> {
    let mut reader = Reader::new(sources, surroundings, problems);
    let suite = suite::load(files, &mut reader);
    problems.sort();
    suite.filter(|_| !problems.has_errors())
}
