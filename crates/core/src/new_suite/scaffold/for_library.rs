//! The parts of a new suite about a library: its local build in every workspace, evals that use it, and the question
//! whether its rules help.

use camino::Utf8Path;
use serde_json::Value;

use super::library::{Delivery, Language, Library, Rule, Runner, Source, copy_of, joined};
use crate::agent::{AgentRef, Capabilities};

impl Library {
    /// Returns the path from a suite to a path of the library.
    fn path_from(&self, suite: &Utf8Path, path: &str) -> String {
        let below = suite.strip_prefix(&self.dir);
        let depth = below.map_or(0, |below| below.components().count());
        match joined(&vec![".."; depth].join("/"), path).as_str() {
            "" => ".".to_owned(),
            path => path.to_owned(),
        }
    }

    /// Returns whether the text of a `terca.yaml` puts the library into the workspaces, as far as a look at it tells.
    pub fn is_delivered_by(&self, suite_file: &str, suite: &Utf8Path) -> bool {
        let paths: Vec<String> = match &self.delivery {
            Delivery::Copies(copies) => copies.iter().map(|(from, _)| from.clone()).collect(),
            Delivery::Script { sources, .. } => sources.iter().flat_map(Source::paths).collect(),
        };
        let mut paths = paths
            .iter()
            .map(|from| scalar(&self.path_from(suite, from)));
        suite_file.contains("\nprepare:") && paths.any(|path| suite_file.contains(&path))
    }
}

/// Fills in the words between `@` of the evals.
pub(super) fn filled(text: &str, library: &Library, suite: &Utf8Path) -> String {
    let items = library
        .exports
        .iter()
        .map(|name| format!("#[allow(unused_imports)]\nuse workspace::{name} as _;\n"));
    let offline = match library.has_dependencies {
        true => "",
        false => "--offline ",
    };
    let siblings = library.siblings.iter();
    let siblings = siblings.map(|(name, place)| format!("replace {name} => ./{place}\n"));
    let (head, end) = node_dialect(library.runner);
    let text = match library.runner {
        Runner::NodeTest => text.to_owned(),
        _ => text.replace(
            "assert.deepEqual(found, expected)", "expect(found).toEqual(expected)",
        ),
    };
    let text = text
        .replace("@head@", head)
        .replace("@end@", end)
        .replace("@runner@", &runner(library, suite))
        .replace("@items@\n", &items.collect::<String>())
        .replace("@siblings@\n", &siblings.collect::<String>())
        .replace("@name@", &library.name)
        .replace("@import@", &library.import)
        .replace("@place@", &library.place)
        .replace("@compiler@", library.compiler.as_deref().unwrap_or("1.21"))
        .replace("@version@", library.version.as_deref().unwrap_or("0.0.0"))
        .replace("@offline@", offline);
    match &library.rule {
        Some(rule) => with_rule(&text, rule, library.language),
        None => text,
    }
}

/// Returns the beginning of a hidden test in JavaScript, and the end of its file's name. vitest and jest have `test` and
/// `expect` as globals.
fn node_dialect(runner: Runner) -> (&'static str, &'static str) {
    match runner {
        Runner::Jest => (
            "const { spawnSync } = require('node:child_process');",
            "test.cjs",
        ),
        Runner::Vitest => (
            "import { spawnSync } from 'node:child_process';",
            "test.mjs",
        ),
        _ => (
            "import assert from 'node:assert/strict';\nimport { spawnSync } from 'node:child_process';\nimport test from 'node:test';",
            "test.mjs",
        ),
    }
}

/// Fills in the words of the eval about a rule.
fn with_rule(text: &str, rule: &Rule, language: Language) -> String {
    let file = match language {
        Language::Node => "example.mjs",
        Language::Python => "example.py",
        Language::Rust => "src/main.rs",
        Language::Go => "main.go",
    };
    let mut checks = String::new();
    if let Some(name) = &rule.used {
        checks += &format!(
            "grep -qw '{name}' {file} || {{ echo \"{file} does not use {name}\"; exit 1; }}\n"
        );
    }
    if let Some(name) = &rule.avoided {
        checks +=
            &format!("! grep -w '{name}' {file} || {{ echo \"{file} uses {name}\"; exit 1; }}\n");
    }
    let used = rule.used.as_deref().unwrap_or("toString");
    text.replace("@rule@", &rule.text)
        .replace("@checks@\n", &checks)
        .replace("@used@", used)
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
        Delivery::Script {
            sources,
            links,
            lines,
        } => {
            let place =
                |path: &str| format!("\"$TERCA_SUITE_DIR/{}\"", library.path_from(suite, path));
            let mut all = Vec::new();
            for source in sources.iter().filter(|source| !source.parts.is_empty()) {
                let (from, to) = (place(&source.from), source.copy());
                let parts = source.parts.join(" ");
                all.push(format!("mkdir -p {to}"));
                all.push(format!("(cd {from} && cp -R {parts} {to})"));
            }
            let links_to = links.iter().map(|(from, to)| (place(from), copy_of(to)));
            all.extend(links_to.map(|(from, to)| format!("ln -s {from} {to}")));
            all.extend(
                lines
                    .iter()
                    .map(|line| line.replace("@library@", place("").trim_matches('"'))),
            );
            let mut inputs: Vec<String> = sources.iter().flat_map(Source::paths).collect();
            if !library.is_seen {
                // Where there is no repository, a sandbox shows the inputs alone.
                inputs.extend(links.iter().map(|(from, _)| from.clone()));
            }
            let inputs = inputs
                .iter()
                .map(|input| format!("      - {}\n", there(input)));
            format!(
                "  - command: |\n      {}\n    inputs:\n{}",
                all.join(" &&\n      "),
                inputs.collect::<String>()
            )
        }
    }
}

/// Returns the settings of a suite whose `prepare` fetches packages.
pub(super) fn fetching(library: &Library) -> String {
    library.fetches.map_or(String::new(), |manager| {
        format!(
            "\n# Packages come from the registries that this machine is set up for, and are kept for later runs.\n\
             passRegistries: true\ncache: {manager}\n"
        )
    })
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
        (own, made) => {
            let path = own.map_or(made.unwrap_or_default().to_owned(), |own| {
                there(own.as_str())
            });
            let note = match own.is_some() && library.rule.is_none() {
                true => format!(
                    "  # No rule of {path} names code to use or to avoid, so no eval checks one yet:\n  \
                     # `terca create-eval NAME` makes an eval for a rule that matters to you.\n"
                ),
                false => String::new(),
            };
            format!(
                "{note}  - name: with-rules\n    rules: {path}   # installed where the agent reads its project rules\n"
            )
        }
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
    let installed = library.installed_runner.as_deref();
    let installed = installed.map(|path| library.path_from(suite, path));
    let installed = installed.unwrap_or_default();
    match library.runner {
        Runner::Vitest => format!(
            "node \"$TERCA_SUITE_DIR/{installed}\" run --root . --config hidden/vitest.config.mjs --reporter tap-flat hidden/"
        ),
        Runner::Jest => format!(
            "node \"$TERCA_SUITE_DIR/{installed}\" --rootDir . --config hidden/jest.config.json --verbose hidden/"
        ),
        Runner::Pytest => format!(
            "\"$TERCA_SUITE_DIR/{installed}\" -I -m pytest -v -c /dev/null --rootdir hidden --confcutdir hidden \
             -p no:cacheprovider hidden/"
        ),
        Runner::Unittest => "python3 -I hidden/".to_owned(),
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
