//! Finds the library that a new suite is about: its name, its tests, and how its local build gets into a workspace.
//!
//! A manifest decides the language. Everything here asks [`Surroundings`] and writes nothing.

mod go;
mod guidance;
mod node;
mod python;
mod rust;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

pub use guidance::Guidance;

use crate::reader::{PathKind, Surroundings};

/// The language of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    /// JavaScript or TypeScript, with a `package.json`.
    Node,
    /// Python, with a `pyproject.toml`.
    Python,
    /// Rust, with a `Cargo.toml`.
    Rust,
    /// Go, with a `go.mod`.
    Go,
}

impl Language {
    /// Returns its name.
    pub fn title(self) -> &'static str {
        match self {
            Language::Node => "JavaScript or TypeScript",
            Language::Python => "Python",
            Language::Rust => "Rust",
            Language::Go => "Go",
        }
    }
}

/// A library that a suite can be about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Library {
    /// Its directory, which has the manifest.
    pub dir: Utf8PathBuf,
    /// Its language.
    pub language: Language,
    /// The file that names it.
    pub manifest: &'static str,
    /// Its name, as it is published.
    pub name: String,
    /// The name that programs import it by.
    pub import: String,
    /// Its version, where the manifest has it.
    pub version: Option<String>,
    /// The program that runs hidden tests.
    pub runner: &'static str,
    /// That program's path below the library, where it is one that is installed there.
    pub installed_runner: Option<&'static str>,
    /// The way of its local build into a workspace.
    pub delivery: Delivery,
    /// Names that it exports, as far as a look at its source tells.
    pub exports: Vec<String>,
    /// It needs other libraries.
    pub has_dependencies: bool,
    /// A remark on the delivery that its author has to know.
    pub remark: Option<&'static str>,
    /// What it gives to agents already.
    pub guidance: Guidance,
}

/// The way of a local build into a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Paths of the library, and where they are copied to.
    Copies(Vec<(String, String)>),
    /// Lines of a shell script, in which `@library@` is the library's directory.
    Script {
        /// The lines.
        lines: Vec<String>,
        /// The paths of the library that it reads.
        inputs: Vec<String>,
    },
}

impl Default for Delivery {
    fn default() -> Self {
        Delivery::Copies(Vec::new())
    }
}

impl Library {
    /// Returns its name and version, such as `tinyq 1.2.0`.
    pub fn title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Finds the library around a directory: in it or, within a git repository, in the nearest directory above.
pub fn find(dir: &Utf8Path, surroundings: &dyn Surroundings) -> Option<Library> {
    let is_there =
        |dir: &Utf8Path, name: &str| surroundings.kind(&dir.join(name)) != PathKind::Missing;
    let top = dir.ancestors().find(|dir| is_there(dir, ".git"));
    let top = top.unwrap_or(dir);
    let mut within = dir.ancestors().take_while(|dir| dir.starts_with(top));
    within.find_map(|dir| {
        let files = Files { dir, surroundings };
        let library = node::read(&files)
            .or_else(|| python::read(&files))
            .or_else(|| rust::read(&files))
            .or_else(|| go::read(&files))?;
        Some(Library {
            dir: dir.to_owned(),
            guidance: Guidance::find(&files),
            ..library
        })
    })
}

/// The files of a library, by their paths below its directory.
struct Files<'a> {
    dir: &'a Utf8Path,
    surroundings: &'a dyn Surroundings,
}

impl Files<'_> {
    fn text(&self, path: &str) -> Option<String> {
        let full = self.dir.join(path);
        match self.surroundings.kind(&full) {
            PathKind::File => self.surroundings.read_text(&full).ok(),
            _ => None,
        }
    }

    fn has(&self, path: &str) -> bool {
        self.surroundings.kind(&self.dir.join(path)) != PathKind::Missing
    }

    fn has_file(&self, path: &str) -> bool {
        self.surroundings.kind(&self.dir.join(path)) == PathKind::File
    }

    /// Returns those of some paths that exist.
    fn existing<'b>(&self, paths: impl IntoIterator<Item = &'b str>) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for path in paths {
            if self.has(path) && !found.iter().any(|known| known == path) {
                found.push(path.to_owned());
            }
        }
        found
    }

    /// Returns the paths of the files below a directory.
    fn below(&self, dir: &str) -> Vec<Utf8PathBuf> {
        let files = self.surroundings.files_below(&self.dir.join(dir));
        let relative = files
            .iter()
            .filter_map(|path| path.strip_prefix(self.dir).ok());
        relative.map(Utf8Path::to_owned).collect()
    }
}

/// Returns whether a name can be a part of a path and of a command without quotes.
fn is_plain(name: &str) -> bool {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@' | '~' | '+');
    !name.is_empty()
        && name.chars().all(plain)
        && !name.starts_with(['-', '/', '.', '~'])
        && !name.split('/').any(|part| part.is_empty() || part == "..")
}

/// Returns a name or a version of a manifest; `None` where it has something else in its place.
fn plain(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| is_plain(text))?;
    Some(text.to_owned())
}

/// Tells whether one of some tables of a manifest has an entry.
fn names_some(manifest: &Value, tables: &[&str]) -> bool {
    let mut tables = tables.iter().map(|table| manifest[table].as_object());
    tables.any(|table| table.is_some_and(|table| !table.is_empty()))
}

/// Copies parts of the library into a directory of the workspace.
fn copied(parts: Vec<String>) -> Delivery {
    let copies = parts.into_iter().map(|part| {
        let to = format!("library/{part}");
        (part, to)
    });
    Delivery::Copies(copies.collect())
}
