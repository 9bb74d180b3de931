//! From the user's YAML to a [`Suite`] in which every path is checked and every default is filled in.
//!
//! Three steps, one module each: [`yaml`] parses text into a tree with places, the `read_*` modules turn the
//! tree into the [`raw`] types (shape), and [`resolve`] turns those into the [`suite`] types (meaning).
//! Problems of all files and all steps end up in one [`Diagnostics`].

pub mod adaptive;
mod concurrency;
mod names;
mod paths;
pub mod raw;
pub mod read;
mod read_action;
mod read_eval;
mod read_setup;
mod read_suite;
mod read_test;
mod repetitions;
mod resolve;
mod resolve_action;
mod resolve_eval;
mod resolve_setup;
mod resolve_test;
mod resolver;
pub mod schema;
pub mod suite;
mod yaml;

use camino::{Utf8Path, Utf8PathBuf};

pub use paths::folder_name;
pub use suite::Suite;

use crate::config::raw::{RawEval, RawSuite};
use crate::config::yaml::{Node, Value};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::source::{FileId, Place, Sources};

/// The configuration files of a suite.
#[derive(Debug, Clone)]
pub struct ConfigFiles {
    /// The suite's directory, absolute.
    pub root: Utf8PathBuf,
    pub suite: Option<FileId>,
    /// Every `eval.terca.yaml`, sorted by path.
    pub evals: Vec<FileId>,
}

/// What resolving needs to know about the file system; the engine answers from the real one.
pub trait Surroundings {
    fn kind(&self, path: &Utf8Path) -> PathKind;
    /// Where a symbolic link points, as written in it.
    fn link_target(&self, path: &Utf8Path) -> Option<Utf8PathBuf>;
    fn read_text(&self, path: &Utf8Path) -> Result<String, String>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    Missing,
    File,
    Directory,
}

/// Reads and resolves all files. `None` when there was an error, which then is among the problems.
pub fn load(
    files: &ConfigFiles,
    sources: &Sources,
    surroundings: &dyn Surroundings,
    problems: &mut Diagnostics,
) -> Option<Suite> {
    let suite = files
        .suite
        .and_then(|file| read_file(file, sources, problems, read_suite::suite));
    let evals: Vec<RawEval> = files
        .evals
        .iter()
        .filter_map(|&file| {
            read_file(file, sources, problems, |_, node, problems| {
                read_eval::eval(node, problems)
            })
        })
        .collect();
    let raw_suite: Option<RawSuite> = suite;
    let resolved = resolve::suite(files, raw_suite, evals, sources, surroundings, problems);
    problems.sort();
    if problems.has_errors() {
        None
    } else {
        Some(resolved)
    }
}

fn read_file<T>(
    file: FileId,
    sources: &Sources,
    problems: &mut Diagnostics,
    read: impl FnOnce(FileId, Node, &mut Diagnostics) -> Option<T>,
) -> Option<T> {
    let node = yaml::parse(file, sources, problems)?;
    if node.value == Value::Null {
        let place = Place {
            file,
            start: 0,
            end: 0,
        };
        problems.push(
            Diagnostic::error(Code::EmptyFile, "the file is empty")
                .at(place, "expected keys and values, such as `name: …`"),
        );
        return None;
    }
    read(file, node, problems)
}
