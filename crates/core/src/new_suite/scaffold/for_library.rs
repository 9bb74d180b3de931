//! The parts of a new suite about a library: its local build in every workspace, evals that use it, and the question
//! whether its rules help.

use camino::Utf8Path;
use serde_json::Value;

use super::library::{Delivery, Language, Library};
use crate::agent::{AgentRef, Capabilities};

impl Library {
    /// Returns the path from a suite to a path of the library.
    fn path_from(&self, suite: &Utf8Path, path: &str) -> String {
        let below = suite.strip_prefix(&self.dir);
        let depth = below.map_or(0, |below| below.components().count());
        let parts = std::iter::repeat_n("..", depth).chain([path]);
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        match parts.is_empty() {
            true => ".".to_owned(),
            false => parts.join("/"),
        }
    }

    /// Returns whether the text of a `terca.yaml` puts the library into the workspaces, as far as a look at it tells.
    pub fn is_delivered_by(&self, suite_file: &str, suite: &Utf8Path) -> bool {
        let paths: Vec<&String> = match &self.delivery {
            Delivery::Copies(copies) => copies.iter().map(|(from, _)| from).collect(),
            Delivery::Script { inputs, .. } => inputs.iter().collect(),
        };
        let mut paths = paths
            .iter()
            .map(|from| scalar(&self.path_from(suite, from)));
        suite_file.contains("\nprepare:") && paths.any(|path| suite_file.contains(&path))
    }

    pub(super) fn uses_vitest(&self) -> bool {
        self.language == Language::Node && self.installed_runner.is_some()
    }
}

/// Fills in the words between `@` of the evals.
pub(super) fn filled(text: &str, library: &Library, suite: &Utf8Path) -> String {
    let test = match library.uses_vitest() {
        true => "// `test` is a global of vitest: the hidden settings say so.",
        false => "import test from 'node:test';",
    };
    let items = library
        .exports
        .iter()
        .map(|name| format!("#[allow(unused_imports)]\nuse workspace::{name} as _;\n"));
    let offline = match library.has_dependencies {
        true => "",
        false => "--offline ",
    };
    text.replace("@runner@", &runner(library, suite))
        .replace("@test@", test)
        .replace("@items@\n", &items.collect::<String>())
        .replace("@name@", &library.name)
        .replace("@import@", &library.import)
        .replace("@version@", library.version.as_deref().unwrap_or("0.0.0"))
        .replace("@offline@", offline)
}

/// Returns the steps that put the library into the workspaces.
pub(super) fn prepare(library: &Library, suite: &Utf8Path) -> String {
    let there = |path: &str| scalar(&library.path_from(suite, path));
    match &library.delivery {
        Delivery::Copies(copies) => {
            let pairs = copies
                .iter()
                .map(|(from, to)| format!("      {}: {}\n", there(from), scalar(to)));
            format!("  - copy:\n{}", pairs.collect::<String>())
        }
        Delivery::Script { lines, inputs } => {
            let place = format!("\"$TERCA_SUITE_DIR/{}\"", library.path_from(suite, ""));
            let lines = lines.join(" &&\n      ").replace("@library@", &place);
            let inputs = inputs
                .iter()
                .map(|input| format!("      - {}\n", there(input)));
            format!(
                "  - command: |\n      {lines}\n    inputs:\n{}",
                inputs.collect::<String>()
            )
        }
    }
}

/// Returns the experiments beside the baseline: one runs, and others that the library has something for are offered.
pub(super) fn experiments(
    library: &Library,
    suite: &Utf8Path,
    agents: &[AgentRef],
    new_rules: Option<&str>,
) -> String {
    let there = |path: &str| scalar(&library.path_from(suite, path));
    let guidance = &library.guidance;
    let mut text = match (guidance.rules.first(), new_rules) {
        _ if !all_can(agents, |can| can.rules) => format!(
            "  - name: with-advice\n    preamble: Use {} for everything that it can do.\n",
            library.name
        ),
        (own, made) => format!(
            "  - name: with-rules\n    rules: {}   # installed where the agent reads its project rules\n",
            own.map_or(made.unwrap_or_default().to_owned(), |own| there(
                own.as_str()
            ))
        ),
    };
    if !guidance.skills.is_empty() && all_can(agents, |can| can.skills) {
        text += "  # - name: with-skills\n  #   skills:\n";
        for skill in &guidance.skills {
            text += &format!("  #     - {}\n", there(skill.as_str()));
        }
    }
    if !guidance.mcp_servers.is_empty() && all_can(agents, |can| can.mcp_servers) {
        text += "  # - name: with-mcp-servers\n  #   mcpServers:\n";
        for (name, server) in &guidance.mcp_servers {
            text += &format!("  #     {}: {server}\n", Value::from(name.as_str()));
        }
    }
    text
}

/// Tells whether every agent has a capability.
pub(super) fn all_can(agents: &[AgentRef], can: fn(&Capabilities) -> bool) -> bool {
    agents
        .iter()
        .all(|agent| can(&agent.profile().capabilities))
}

/// Returns the command of the hidden tests, which uses the library's own runner where it is installed.
fn runner(library: &Library, suite: &Utf8Path) -> String {
    let installed = library.installed_runner;
    let installed = installed.map(|path| library.path_from(suite, path));
    match (library.language, installed) {
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

/// Writes a text or a path without quotes where YAML reads it as that text, else in double quotes.
pub(super) fn scalar(text: &str) -> String {
    let read = serde_saphyr::from_str::<Value>(text);
    match read.is_ok_and(|value| value == text) {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let texts = [
            "my suite", "a: b", "No", "007", "1.5", "- x", "\"", "grün", "a #b", "x\ny", "null",
            "", " a ", "../AGENTS.md", "../../.cursor/rules/a b.mdc", "no", ".", "..", "src/007",
            "../1.5", "@x/y", ".inf", "...",
        ];
        for text in texts {
            let written = format!("name: {}\n", scalar(text));
            let read: serde_json::Value = serde_saphyr::from_str(&written).expect("YAML");
            assert_eq!(read["name"], text, "{written}");
        }
        assert_eq!(scalar("my-suite"), "my-suite");
        assert_eq!(scalar("../.mcp/AGENTS.md"), "../.mcp/AGENTS.md");
    }
}
