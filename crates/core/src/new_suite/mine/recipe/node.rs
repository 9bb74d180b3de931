//! JavaScript and TypeScript: npm, pnpm or yarn; vitest, jest, mocha, ava or Node's own runner.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::{Part, Project, Recipe, SHOWN, Step, enter};
use crate::text::shell::quoted;

const LOCKS: [&str; 4] = [
    "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock",
];

/// The drafts of one search share their downloads.
const NPM_INSTALL: &str = "npm install --prefer-offline";

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
const RUNNERS: [(&str, &str); 5] = [
    (
        "vitest",
        "vitest run --reporter=default --reporter=junit --outputFile=\"$report\" @files@",
    ),
    (
        "jest",
        "jest --ci --json --outputFile=\"$report\" --runTestsByPath @files@",
    ),
    (
        "mocha",
        "mocha --reporter xunit --reporter-option output=\"$report\" @files@",
    ),
    ("ava", "ava --tap @files@ > \"$report\""),
    ("tape", "tape @files@ > \"$report\""),
];

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let package = project.text(part.dir, "package.json");
    let package: Value = package
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let lock = LOCKS.iter().find_map(|lock| {
        let dir = project.nearest(&part.dir.join("package.json"), &[lock])?;
        let install = by_lock(lock, &dir, project);
        Some((dir, install))
    });
    let dependencies = ["dependencies", "devDependencies"].map(|key| package[key].as_object());
    let has_packages = dependencies.iter().flatten().any(|map| !map.is_empty());
    let install = || has_packages.then(|| (part.dir.to_owned(), NPM_INSTALL.to_owned()));
    let setup = lock.or_else(install);
    let tool = setup.as_ref().map_or("node", |_| "npm");
    let root = project
        .text(Utf8Path::new(""), "package.json")
        .unwrap_or_default();
    let is_used = |(name, _): &&(&str, &str)| {
        let mut own = dependencies.iter().flatten();
        own.any(|map| map.contains_key(*name)) || root.contains(&format!("\"{name}\":"))
    };
    let lines = match RUNNERS.iter().find(is_used) {
        Some((_, command)) => {
            let command = command.replace("@files@", &part.words());
            format!("npx --no-install {command}\n{SHOWN}")
        }
        None => part.inside().map(by_node).collect(),
    };
    Recipe {
        tag: "node",
        tool,
        setup: Vec::from_iter(
            setup.map(|(dir, install)| {
                Step::within(&dir, &install).with_only(needed(&dir, project))
            }),
        ),
        check: enter(part.dir) + &lines,
        settings: part.paths(&SETTINGS),
        ..Recipe::default()
    }
}

/// Files that an installation reads, beside manifests and lock files.
const READ: [&str; 8] = [
    ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn", ".pnpmfile.cjs", "pnpm-workspace.yaml", "patches",
    ".node-version",
];

/// Returns the files that an installation needs; none where scripts of the project run in it, which may need all files.
fn needed(dir: &Utf8Path, project: &Project<'_>) -> Vec<Utf8PathBuf> {
    let manifests: Vec<&Utf8PathBuf> = project.all_named(dir, "package.json").collect();
    let text = |path: &&Utf8PathBuf| (project.text)(path).unwrap_or_default();
    if manifests.iter().map(text).any(|text| needs_more(&text)) {
        return Vec::new();
    }
    let mut files = project.there(dir, &READ);
    files.extend(project.there(dir, &LOCKS));
    files.extend(manifests.into_iter().cloned());
    files
}

/// Tells whether to install a package takes more of its files than its manifest.
fn needs_more(manifest: &str) -> bool {
    let package: Value = serde_json::from_str(manifest).unwrap_or_default();
    let is_run = |name: &&str| {
        let script = package["scripts"][*name].as_str();
        // Hooks of git are not set up without a repository.
        script.is_some_and(|script| !script.starts_with("husky"))
    };
    [
        "preinstall", "install", "postinstall", "prepublish", "prepare",
    ]
    .iter()
    .any(is_run)
        || ["\"file:", "\"link:", "\"portal:"]
            .iter()
            .any(|local| manifest.contains(local))
}

/// Returns the command that installs what a lock file has. npm fetches other package managers, in the version that the
/// project names or its lock file is of.
fn by_lock(lock: &str, dir: &Utf8Path, project: &Project<'_>) -> String {
    if !matches!(lock, "pnpm-lock.yaml" | "yarn.lock") {
        return "npm ci --prefer-offline".to_owned();
    }
    let package = project.text(dir, "package.json").unwrap_or_default();
    let package: Value = serde_json::from_str(&package).unwrap_or_default();
    let named = package["packageManager"].as_str().unwrap_or_default();
    let named = named.split('+').next().unwrap_or_default();
    let version = |name: &str| {
        named
            .strip_prefix(name)?
            .strip_prefix('@')
            .map(str::to_owned)
    };
    let text = project.text(dir, lock).unwrap_or_default();
    let is_of = |beginning: &str| {
        text.lines()
            .any(|line| line.replace(['\'', '"'], "").starts_with(beginning))
    };
    if lock == "pnpm-lock.yaml" {
        let own = match () {
            () if is_of("lockfileVersion: 5") => "7",
            () if is_of("lockfileVersion: 6") => "8",
            () => "10",
        };
        let version = version("pnpm").unwrap_or_else(|| own.to_owned());
        let pnpm = quoted(&format!("pnpm@{version}"));
        return format!("npm exec --yes {pnpm} -- install --frozen-lockfile");
    }
    match is_of("__metadata:") {
        false => "npm exec --yes yarn@1 -- install --frozen-lockfile".to_owned(),
        true => {
            let version = version("yarn").unwrap_or_else(|| "4".to_owned());
            let yarn = quoted(&format!("@yarnpkg/cli-dist@{version}"));
            format!(
                "YARN_NODE_LINKER=node-modules npm exec --yes --package={yarn} -- yarn install --immutable"
            )
        }
    }
}

/// Returns the lines that run a file with Node's own runner.
fn by_node(file: &Utf8Path) -> String {
    let file = quoted(file.as_str());
    format!(
        "rm -rf \"$report.one\"\nnode --test-reporter=tap --test-reporter-destination=\"$report.one\" {file}\n\
         cat \"$report.one\" >> \"$report\"\ncat \"$report.one\"\n"
    )
}
