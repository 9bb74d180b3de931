//! The files of a new suite about a library: its local build in every workspace, two evals that use it, and the
//! question whether its rules help.

mod evals;
mod experiments;

use camino::{Utf8Path, Utf8PathBuf};

use super::library::{Delivery, Language, Library};
use super::suite::{all_take_rules, environments, schemas};
use super::yaml_scalar::{path, scalar};
use super::{NewFile, SUITE_SCHEMA, editor_line};
use crate::agent::AgentRef;

/// The rules that are made where a library has none.
const NEW_RULES: &str = "rules/AGENTS.md";

/// The wishes for a suite about a library.
#[derive(Debug, Clone)]
pub struct LibrarySuite<'a> {
    /// The suite's name.
    pub name: String,
    /// The suite's directory, which is the library's or below it.
    pub dir: &'a Utf8Path,
    /// The agents, one environment each.
    pub agents: Vec<AgentRef>,
    /// The directory of the first eval, if it has another name than usual.
    pub eval: Option<String>,
    /// The library.
    pub library: &'a Library,
}

impl LibrarySuite<'_> {
    /// Returns the path from the suite to a path of the library.
    pub fn to_library(&self, path: &str) -> String {
        let below = self.dir.strip_prefix(&self.library.dir);
        let depth = below.map_or(0, |below| below.components().count());
        let up = vec![".."; depth].join("/");
        let joined = match (up.is_empty(), path.is_empty()) {
            (true, true) => ".".into(),
            (true, false) => Utf8PathBuf::from(path),
            (false, true) => Utf8PathBuf::from(up),
            (false, false) => Utf8Path::new(&up).join(path),
        };
        joined.into_string()
    }

    /// Returns whether the text of a `terca.yaml` puts the library into the workspaces, as far as a look at it tells.
    pub fn is_delivered_by(&self, suite_file: &str) -> bool {
        let paths: Vec<&String> = match &self.library.delivery {
            Delivery::Copies(copies) => copies.iter().map(|(from, _)| from).collect(),
            Delivery::Script { inputs, .. } => inputs.iter().collect(),
        };
        let mut paths = paths.into_iter().map(|from| path(&self.to_library(from)));
        suite_file.contains("\nprepare:") && paths.any(|path| suite_file.contains(&path))
    }

    /// Returns the new file with rules, if the suite has one because the library has none.
    pub fn new_rules(&self) -> Option<&'static str> {
        let is_needed = self.library.guidance.rules.is_empty() && all_take_rules(&self.agents);
        is_needed.then_some(NEW_RULES)
    }

    /// Fills in the words between `@` that are the same in all files.
    fn filled(&self, text: &str) -> String {
        let Library { name, import, .. } = self.library;
        let version = self.library.version.as_deref().unwrap_or("0.0.0");
        let offline = if self.library.has_dependencies {
            ""
        } else {
            "--offline "
        };
        text.replace("@name@", name)
            .replace("@import@", import)
            .replace("@version@", version)
            .replace("@offline@", offline)
    }
}

/// Returns the files of a new suite about a library.
pub fn library_suite(new: &LibrarySuite<'_>) -> Vec<NewFile> {
    let mut files = vec![NewFile::new("terca.yaml", suite_file(new))];
    files.extend(schemas());
    if let Some(path) = new.new_rules() {
        files.push(NewFile::new(path, new.filled(include_str!("rules.md"))));
    }
    files.extend(base(new));
    files.extend(evals::evals(new));
    files
}

/// Returns the files of one more eval in a suite about a library.
pub fn library_eval(new: &LibrarySuite<'_>, dir: &Utf8Path, has_schemas: bool) -> Vec<NewFile> {
    evals::eval(new, dir, has_schemas)
}

fn suite_file(new: &LibrarySuite<'_>) -> String {
    let text = include_str!("suite.yaml")
        .replace("@name@", &scalar(&new.name))
        .replace("@title@", &new.library.title())
        .replace("@prepare@\n", &prepare(new))
        .replace(
            "@environments@\n",
            &format!("{}\n", environments(&new.agents)),
        )
        .replace("@experiments@\n", &experiments::others(new));
    format!(
        "{}{text}",
        editor_line(Utf8Path::new("terca.yaml"), SUITE_SCHEMA)
    )
}

/// Writes the actions that put the library into a workspace.
fn prepare(new: &LibrarySuite<'_>) -> String {
    match &new.library.delivery {
        Delivery::Copies(copies) => {
            let pairs = copies
                .iter()
                .map(|(from, to)| format!("      {}: {}\n", path(&new.to_library(from)), path(to)));
            format!("  - copy:\n{}\n", pairs.collect::<String>())
        }
        Delivery::Script { lines, inputs } => {
            let place = format!("\"$TERCA_SUITE_DIR/{}\"", new.to_library(""));
            let lines: Vec<String> = lines
                .iter()
                .map(|line| format!("      {}", line.replace("@library@", &place)))
                .collect();
            let inputs = inputs
                .iter()
                .map(|input| format!("      - {}\n", path(&new.to_library(input))));
            format!(
                "  - command: |\n{}\n    inputs:\n{}\n",
                lines.join(" &&\n"),
                inputs.collect::<String>()
            )
        }
    }
}

/// Returns the files that every workspace starts with, beside the library.
fn base(new: &LibrarySuite<'_>) -> Vec<NewFile> {
    let files: &[(&str, &str)] = match new.library.language {
        Language::Node => &[("package.json", include_str!("node/package.json"))],
        Language::Python => &[(".gitignore", include_str!("python/gitignore"))],
        Language::Rust => &[
            ("Cargo.toml", include_str!("rust/Cargo.toml.txt")),
            (".gitignore", include_str!("rust/gitignore")),
        ],
        Language::Go => &[("go.mod", include_str!("go/go.mod.txt"))],
    };
    let files = files
        .iter()
        .map(|(path, text)| NewFile::new(Utf8Path::new("_base").join(path), new.filled(text)));
    files.collect()
}
