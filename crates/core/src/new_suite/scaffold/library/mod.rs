//! Finds the library that a new suite is about: its name, its tests, and how its local build gets into a workspace.
//!
//! A manifest decides the language. Everything here asks [`Surroundings`] and writes nothing.

mod go;
mod guidance;
mod node;
mod python;
mod rules;
mod rust;
mod workspace;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

pub use guidance::Guidance;
pub use rules::Rule;
pub use workspace::{Member, Workspace};

use crate::plan::project_dir::ProjectDir;
use crate::reader::{PathKind, Surroundings};
use crate::text::prose;

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
    pub runner: Runner,
    /// The path from the library to that program, where it is one that is installed there.
    pub installed_runner: Option<String>,
    /// The way of its local build into a workspace.
    pub delivery: Delivery,
    /// The directory of its source in a workspace that has the source.
    pub place: String,
    /// The other modules of a Go workspace, and their directories in the evals' workspaces.
    pub siblings: Vec<(String, String)>,
    /// The version of the compiler on this machine, where a file of the suite names one.
    pub compiler: Option<String>,
    /// Names that it exports, as far as a look at its source tells.
    pub exports: Vec<String>,
    /// It needs other libraries.
    pub has_dependencies: bool,
    /// The package manager that fetches packages in `prepare`.
    pub fetches: Option<&'static str>,
    /// Commands in a sandbox see its directory, and not only what they name.
    pub is_seen: bool,
    /// Remarks that its author has to know.
    pub remarks: Vec<&'static str>,
    /// What it gives to agents already.
    pub guidance: Guidance,
    /// The first of its rules that a search in a program's text can check.
    pub rule: Option<Rule>,
}

/// A program that runs hidden tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runner {
    #[default]
    /// Node's own.
    NodeTest,
    /// vitest.
    Vitest,
    /// jest.
    Jest,
    /// Python's own.
    Unittest,
    /// pytest.
    Pytest,
    /// Cargo.
    CargoTest,
    /// Go.
    GoTest,
}

impl Runner {
    /// Returns its name.
    pub fn title(self) -> &'static str {
        match self {
            Runner::NodeTest => "node:test",
            Runner::Vitest => "vitest",
            Runner::Jest => "jest",
            Runner::Unittest => "unittest",
            Runner::Pytest => "pytest",
            Runner::CargoTest => "cargo test",
            Runner::GoTest => "go test",
        }
    }
}

/// The way of a local build into a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Paths from the library, and where they are copied to.
    Copies(Vec<(String, String)>),
    /// A shell script that builds in a copy of the sources, `$TMPDIR/library`.
    Script {
        /// The sources.
        sources: Vec<Source>,
        /// Paths from the library that are linked into the copy, and where.
        links: Vec<(String, String)>,
        /// The lines behind those that make the copy. `@library@` is the library's own directory.
        lines: Vec<String>,
    },
}

/// Files of one package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path from the library to the package.
    pub from: String,
    /// Its path in a copy of the workspace; empty for a package without one.
    pub to: String,
    /// Its files and directories.
    pub parts: Vec<String>,
}

impl Source {
    /// Returns the place of its copy, as a word of a shell.
    pub(super) fn copy(&self) -> String {
        copy_of(&self.to)
    }

    /// Returns the paths from the library to its parts.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        self.parts.iter().map(|part| joined(&self.from, part))
    }
}

/// Returns the place of a path in the copy of a workspace, as a word of a shell.
pub(super) fn copy_of(path: &str) -> String {
    format!("\"{}\"", joined("$TMPDIR/library", path))
}

/// Joins two parts of a path, of which one may be empty.
pub(super) fn joined(dir: &str, name: &str) -> String {
    let parts = [dir, name].map(|part| part.trim_end_matches('/'));
    prose::joined(parts.into_iter().filter(|part| !part.is_empty()), "/")
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

/// The subject that is found for a suite.
#[derive(Debug, Clone)]
pub enum Found {
    /// A library.
    Library(Box<Library>),
    /// The root of a workspace, which is no library itself.
    Root(Workspace),
}

type Read = fn(&Files<'_>) -> Option<Library>;

/// The package managers of all languages, and what reads their libraries.
const READERS: [(workspace::Manager, Read); 4] = [
    (node::MANAGER, node::read),
    (python::MANAGER, python::read),
    (rust::MANAGER, rust::read),
    (go::MANAGER, go::read),
];

/// Finds the library around a suite, which need not exist yet: in the nearest directory that exists or, within a git
/// repository, in the nearest above that has one.
pub fn find(suite: &Utf8Path, surroundings: &dyn Surroundings) -> Option<Found> {
    let is_there = |path: &Utf8Path| surroundings.kind(path) != PathKind::Missing;
    let dir = suite.ancestors().find(|dir| is_there(dir))?;
    let repository = dir.ancestors().find(|dir| is_there(&dir.join(".git")));
    let within = dir.ancestors();
    let mut within = within.take_while(|above| above.starts_with(repository.unwrap_or(dir)));
    within.find_map(|dir| {
        let files = Files {
            dir,
            suite,
            top: repository.unwrap_or(Utf8Path::new("/")),
            surroundings,
        };
        READERS.into_iter().find_map(|(manager, read)| {
            let Some(mut library) = read(&files) else {
                return Workspace::at(manager, &files).map(Found::Root);
            };
            let is_seen = files.are_seen();
            if !is_seen && library.installed_runner.take().is_some() {
                library.runner = match library.language {
                    Language::Python => Runner::Unittest,
                    _ => Runner::NodeTest,
                };
                library.remarks.push(NOT_SEEN);
            }
            let workspace = Workspace::around(manager, &files);
            let top = repository.or(workspace.as_ref().map(|workspace| &*workspace.root));
            let guidance = Guidance::find(&files, top.unwrap_or(dir));
            let rules = guidance.rules.first();
            let rules = rules.and_then(|path| files.text(path.as_str()));
            Some(Found::Library(Box::new(Library {
                dir: dir.to_owned(),
                rule: rules.and_then(|text| Rule::first(&text, &library.import)),
                guidance,
                is_seen,
                ..library
            })))
        })
    })
}

/// Returns the members of the workspace that a directory is the root of or in.
pub fn members(dir: &Utf8Path, surroundings: &dyn Surroundings) -> Option<Workspace> {
    dir.ancestors().find_map(|dir| {
        let files = Files {
            dir,
            suite: dir,
            top: dir,
            surroundings,
        };
        let mut managers = READERS.into_iter();
        managers.find_map(|(manager, _)| Workspace::at(manager, &files))
    })
}

const NOT_SEEN: &str = "outside of a git repository hidden tests do not see the library's own test runner, and use the \
    language's: run `git init` first to change that";

/// Names at the top of a package that no build reads.
const NO_SOURCES: [&str; 9] = [
    "package-lock.json", "node_modules", "target", "venv", "coverage", "__pycache__", "htmlcov",
    "docs", "website",
];

/// The files of a library, by their paths below its directory.
#[derive(Clone, Copy)]
struct Files<'a> {
    dir: &'a Utf8Path,
    suite: &'a Utf8Path,
    /// The directory above which nothing is looked for.
    top: &'a Utf8Path,
    surroundings: &'a dyn Surroundings,
}

impl Files<'_> {
    /// Returns whether a program is on the `PATH`.
    fn has_program(&self, name: &str) -> bool {
        let path = self.surroundings.variable("PATH").unwrap_or_default();
        let mut dirs = path.split(':').map(Utf8Path::new);
        dirs.any(|dir| self.surroundings.kind(&dir.join(name)) == PathKind::File)
    }

    /// Returns whether commands in a sandbox see the library: they do in a git repository.
    fn are_seen(&self) -> bool {
        let project = ProjectDir::of(self.dir, self.surroundings);
        matches!(project, ProjectDir::Repository(_))
    }

    /// Returns the sources of a package and of those members of its workspace that it needs, by a choice of the parts.
    fn packages(
        &self,
        workspace: Option<&Workspace>,
        parts: impl Fn(&Files<'_>) -> Vec<String>,
    ) -> Vec<Source> {
        let Some(workspace) = workspace else {
            let (from, to) = Default::default();
            let parts = parts(self);
            return vec![Source { from, to, parts }];
        };
        let needed = workspace.needed(self.dir).into_iter();
        let sources = needed.map(|member| {
            let dir = workspace.root.join(&member.place);
            let files = Files { dir: &dir, ..*self };
            Source {
                from: self.way_to(&dir),
                to: member.place.clone(),
                parts: parts(&files),
            }
        });
        sources.collect()
    }

    /// Returns the way from the library to another directory: `../..`, `../utils`.
    fn way_to(&self, other: &Utf8Path) -> String {
        let common = self.dir.ancestors().find(|above| other.starts_with(above));
        let common = common.unwrap_or(self.dir);
        let down = other.strip_prefix(common).unwrap_or(other);
        let depth = self.dir.components().count() - common.components().count();
        joined(&vec![".."; depth].join("/"), down.as_str())
    }

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

/// Returns the files and directories at the top of a package that a build may read: neither those for agents nor those of
/// suites, which must not come into a workspace.
fn sources(files: &Files<'_>) -> Vec<String> {
    let mut names = files.surroundings.names_in(files.dir);
    names.retain(|name| {
        let path = files.dir.join(name);
        let lower = name.to_lowercase();
        let mut read = ["readme", "license", "changelog"].iter();
        let is_left_out = match path.extension() {
            Some("md") => !read.any(|begin| lower.starts_with(begin)),
            kind => matches!(kind, Some("lock" | "tgz" | "log" | "egg-info")),
        };
        let is_suite = files.suite.starts_with(&path) || files.has(&format!("{name}/terca.yaml"));
        let known = NO_SOURCES.iter().chain(&guidance::NAMES);
        !is_left_out && !is_suite && is_plain(name) && !known.into_iter().any(|known| name == known)
    });
    names
}

/// Returns those that a build of a package reads, without its tests.
fn build_sources(files: &Files<'_>) -> Vec<String> {
    const TESTS: [&str; 8] = [
        "test", "tests", "__tests__", "spec", "examples", "benchmark", "benchmarks", "bench",
    ];
    let mut sources = sources(files);
    sources.retain(|name| !TESTS.contains(&name.as_str()));
    sources
}

/// Copies sources into the directory `library` of the workspace.
fn copied(sources: &[Source]) -> Delivery {
    let copies = sources.iter().flat_map(|source| {
        let to = joined("library", &source.to);
        let parts = source.paths().zip(&source.parts);
        parts.map(move |(from, part)| (from, joined(&to, part)))
    });
    Delivery::Copies(copies.collect())
}
