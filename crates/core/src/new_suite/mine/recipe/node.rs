//! JavaScript and TypeScript: npm, pnpm or yarn; vitest, jest, mocha, ava or Node's own runner.

use camino::Utf8Path;
use serde_json::Value;

use super::{Part, Project, Recipe, enter, within};
use crate::text::shell::quoted;

const LOCKS: [(&str, &str); 4] = [
    ("package-lock.json", "npm ci"),
    ("npm-shrinkwrap.json", "npm ci"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --frozen-lockfile"),
];

const SETTINGS: [&str; 24] = [
    "package.json", ".npmrc", "jest.config.js", "jest.config.cjs", "jest.config.mjs",
    "jest.config.ts", "jest.config.json", "vitest.config.js", "vitest.config.mjs",
    "vitest.config.cjs", "vitest.config.ts", "vitest.config.mts", "vite.config.js",
    "vite.config.mjs", "vite.config.ts", ".mocharc.json", ".mocharc.js", ".mocharc.cjs",
    ".mocharc.yml", ".mocharc.yaml", "bunfig.toml", "ava.config.js", "ava.config.cjs",
    "ava.config.mjs",
];

/// Packages that run tests, and their commands. A runner that was replaced by another program leaves no report, nor does one
/// whose process was ended.
const RUNNERS: [(&str, &str); 4] = [
    (
        "vitest",
        "vitest run --reporter=default --reporter=junit --outputFile=@report@ @files@",
    ),
    (
        "jest",
        "jest --ci --json --outputFile=@report@ --runTestsByPath @files@",
    ),
    (
        "mocha",
        "mocha --reporter json --reporter-option output=@report@ @files@",
    ),
    (
        "ava",
        "ava --tap @files@ >@report@ || { cat @report@; exit 1; }\ngrep -q '^ok ' @report@",
    ),
];
const REPORT: &str = "\"$TMPDIR/ran\"";

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let package = project.text(part.dir, "package.json");
    let package: Value = package
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let lock = LOCKS.iter().find_map(|(lock, install)| {
        let dir = project.nearest(&part.dir.join("package.json"), &[lock])?;
        Some((dir, *install))
    });
    let dependencies = ["dependencies", "devDependencies"].map(|key| package[key].as_object());
    let has_packages = dependencies.iter().flatten().any(|map| !map.is_empty());
    let install = || has_packages.then(|| (part.dir.to_owned(), "npm install"));
    let setup = lock.or_else(install);
    let tool = setup
        .as_ref()
        .and_then(|(_, install)| install.split(' ').next());
    let root = project
        .text(Utf8Path::new(""), "package.json")
        .unwrap_or_default();
    let is_used = |(name, _): &&(&str, &str)| {
        let mut own = dependencies.iter().flatten();
        own.any(|map| map.contains_key(*name)) || root.contains(&format!("\"{name}\":"))
    };
    let lines = match RUNNERS.iter().find(is_used) {
        Some((_, command)) => {
            let command = command.replace("@report@", REPORT);
            let command = command.replace("@files@", &part.words());
            format!("npx --no-install {command}\ntest -s {REPORT}\n")
        }
        None => part.inside().map(by_node).collect(),
    };
    Recipe {
        tag: "node",
        tool: tool.unwrap_or("node"),
        setup: Vec::from_iter(setup.map(|(dir, install)| within(&dir, install))),
        check: enter(part.dir) + &lines,
        settings: part.paths(&SETTINGS),
        script: None,
    }
}

/// Returns the lines that run a file with Node's own runner.
fn by_node(file: &Utf8Path) -> String {
    let file = quoted(file.as_str());
    format!(
        "node --test-reporter=tap --test-reporter-destination={REPORT} {file} || {{ cat {REPORT}; exit 1; }}\n\
         cat {REPORT}\ngrep -q '^# pass [1-9]' {REPORT}\nrm {REPORT}\n"
    )
}
