//! JavaScript and TypeScript: npm, pnpm or yarn; vitest, jest, mocha, ava or Node's own runner.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::{Part, Project, Recipe, Step, enter, within};
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

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let package = project.text(part.dir, "package.json");
    let package: Value = package
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let lock = LOCKS.iter().find_map(|(lock, install)| {
        let dir = project.nearest(&part.dir.join("package.json"), &[lock])?;
        Some((dir, *install))
    });
    let has_packages = ["dependencies", "devDependencies"]
        .iter()
        .any(|key| package[key].as_object().is_some_and(|map| !map.is_empty()));
    let install: Option<(Utf8PathBuf, &str)> = match lock {
        Some(lock) => Some(lock),
        None => has_packages.then(|| (part.dir.to_owned(), "npm install")),
    };
    let setup = install.map(|(dir, command)| Step::Command(within(&dir, command)));
    Recipe {
        tag: "node",
        setup: setup.into_iter().collect(),
        check: check(part, &package, project),
        settings: part.paths(&SETTINGS),
        files: Vec::new(),
    }
}

/// A runner that was replaced by another program leaves no report, nor does one whose process was ended.
fn check(part: &Part<'_>, package: &Value, project: &Project<'_>) -> String {
    let uses = |name: &str| {
        ["dependencies", "devDependencies"]
            .iter()
            .any(|key| package[key][name].is_string())
            || root_package(project).is_some_and(|root| root.contains(&format!("\"{name}\":")))
    };
    let files = part.words();
    let report = "\"$TMPDIR/ran\"";
    let command = if uses("vitest") {
        format!(
            "npx --no-install vitest run --reporter=default --reporter=junit --outputFile={report} {files}\n"
        )
    } else if uses("jest") {
        format!(
            "npx --no-install jest --ci --json --outputFile={report} --runTestsByPath {files}\n"
        )
    } else if uses("mocha") {
        format!(
            "npx --no-install mocha --reporter json --reporter-option output={report} {files}\n"
        )
    } else if uses("ava") {
        format!(
            "npx --no-install ava --tap {files} >{report} || {{ cat {report}; exit 1; }}\ngrep -q '^ok ' {report}\n"
        )
    } else {
        let one = |file: &Utf8Path| {
            let file = quoted(file.as_str());
            format!(
                "node --test-reporter=tap --test-reporter-destination={report} {file} || {{ cat {report}; exit 1; }}\n\
                 cat {report}\ngrep -q '^# pass [1-9]' {report}\nrm {report}\n"
            )
        };
        let lines: String = part.inside().map(one).collect();
        return format!("{}{lines}", enter(part.dir));
    };
    format!("{}{command}test -s {report}\n", enter(part.dir))
}

fn root_package(project: &Project<'_>) -> Option<String> {
    project.text(Utf8Path::new(""), "package.json")
}
