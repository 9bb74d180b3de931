//! The files of a new suite about a library: its local build in every workspace, two evals that use it, and the
//! question whether its rules help.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::library::{Delivery, Language, Library};
use super::suite::{all_take_rules, environments, schemas};
use super::templates::{self, EvalTemplate};
use super::yaml_scalar::{path, scalar};
use super::{NewFile, SUITE_SCHEMA, editor_line};
use crate::agent::{AgentRef, Capabilities};

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
        files.push(NewFile::new(
            path,
            new.filled(include_str!("templates/library-rules.md")),
        ));
    }
    files.extend(templates::base(new.library.language, &|text| {
        new.filled(text)
    }));
    files.extend(evals(new));
    files
}

/// Returns the files of one more eval in a suite about a library.
pub fn library_eval(new: &LibrarySuite<'_>, dir: &Utf8Path, has_schemas: bool) -> Vec<NewFile> {
    eval(
        new,
        dir,
        &templates::of_language(new.library.language)[0],
        has_schemas,
    )
}

fn suite_file(new: &LibrarySuite<'_>) -> String {
    let text = include_str!("templates/library.yaml")
        .replace("@name@", &scalar(&new.name))
        .replace("@title@", &new.library.title())
        .replace("@prepare@\n", &prepare(new))
        .replace(
            "@environments@\n",
            &format!("{}\n", environments(&new.agents)),
        )
        .replace("@experiments@\n", &experiments(new));
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

/// Writes the experiment that is asked about, and others as comments where the library has something to try.
fn experiments(new: &LibrarySuite<'_>) -> String {
    let all_can = |can: fn(&Capabilities) -> bool| {
        new.agents
            .iter()
            .all(|agent| can(&agent.profile().capabilities))
    };
    let mut text = with_rules(new);
    let guidance = &new.library.guidance;
    if !guidance.skills.is_empty() && all_can(|can| can.skills) {
        text.push_str("  # - name: with-skills\n  #   skills:\n");
        for skill in &guidance.skills {
            text.push_str(&format!(
                "  #     - {}\n",
                path(&new.to_library(skill.as_str()))
            ));
        }
    }
    if !guidance.mcp_servers.is_empty() && all_can(|can| can.mcp_servers) {
        text.push_str("  # - name: with-mcp-servers\n  #   mcpServers:\n");
        for (name, server) in &guidance.mcp_servers {
            let name = Value::from(name.as_str());
            text.push_str(&format!("  #     {name}: {server}\n"));
        }
    }
    text
}

fn with_rules(new: &LibrarySuite<'_>) -> String {
    if !all_take_rules(&new.agents) {
        return format!(
            "  - name: with-advice\n    preamble: Use {} for everything that it can do.\n",
            new.library.name
        );
    }
    let own = new.library.guidance.rules.first();
    let rules = match (own, new.new_rules()) {
        (Some(own), _) => new.to_library(own.as_str()),
        (None, rules) => rules.unwrap_or_default().to_owned(),
    };
    format!(
        "  - name: with-rules\n    rules: {}   # installed where the agent reads its project rules\n",
        path(&rules)
    )
}

/// Returns the files of both evals.
fn evals(new: &LibrarySuite<'_>) -> Vec<NewFile> {
    let [first, second] = templates::of_language(new.library.language);
    let first_dir = Utf8Path::new(new.eval.as_deref().unwrap_or(first.name));
    let second_dir = free_name(second.name, first_dir);
    let mut made = eval(new, first_dir, first, true);
    made.extend(eval(new, Utf8Path::new(&second_dir), second, true));
    made
}

/// Returns the usual name of the second eval, with another number if the first one has that name.
fn free_name(usual: &str, first: &Utf8Path) -> String {
    if first.components().any(|part| part.as_str() == usual) {
        usual.replacen("002", "003", 1)
    } else {
        usual.to_owned()
    }
}

fn eval(
    new: &LibrarySuite<'_>,
    dir: &Utf8Path,
    template: &EvalTemplate,
    has_schemas: bool,
) -> Vec<NewFile> {
    let mut files = template.written(dir, has_schemas, &|text| {
        let text = text
            .replace("@runner@", &runner(new))
            .replace("@test@", test_line(new.library))
            .replace("@items@\n", &items(new.library));
        new.filled(&text)
    });
    if uses_vitest(new.library) {
        let settings = include_str!("templates/node/vitest.config.mjs");
        let path = dir.join("_tests/hidden/vitest.config.mjs");
        files.push(NewFile::new(path, settings));
    }
    files
}

fn uses_vitest(library: &Library) -> bool {
    library.language == Language::Node && library.installed_runner.is_some()
}

/// Returns the command that runs a hidden test, up to the name of its file. A runner of the library is out of the
/// agent's reach; one in the workspace would not be.
fn runner(new: &LibrarySuite<'_>) -> String {
    let installed = new
        .library
        .installed_runner
        .map(|path| new.to_library(path));
    match (new.library.language, installed) {
        (Language::Node, Some(vitest)) => format!(
            "node \"$TERCA_SUITE_DIR/{vitest}\" run --root . --config hidden/vitest.config.mjs --reporter tap-flat hidden/"
        ),
        (Language::Python, Some(python)) => format!(
            "\"$TERCA_SUITE_DIR/{python}\" -I -m pytest -v -c /dev/null --rootdir hidden --confcutdir hidden \
             -p no:cacheprovider hidden/"
        ),
        (Language::Python, None) => "python3 -I hidden/".to_owned(),
        _ => "node --test --test-reporter=tap hidden/".to_owned(),
    }
}

fn test_line(library: &Library) -> &'static str {
    if uses_vitest(library) {
        "// `test` is a global of vitest: the hidden settings say so."
    } else {
        "import test from 'node:test';"
    }
}

/// Returns lines that import what a crate exports, one each.
fn items(library: &Library) -> String {
    let lines = library
        .exports
        .iter()
        .map(|name| format!("#[allow(unused_imports)]\nuse workspace::{name} as _;\n"));
    lines.collect()
}
