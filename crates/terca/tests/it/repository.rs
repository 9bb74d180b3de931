//! What developers and CI are told to run is there.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

fn root() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A command line begins with one of our scripts: it is there and may be run.
#[track_caller]
fn assert_can_be_run(line: &str) {
    let mut words = line
        .split_whitespace()
        .skip_while(|word| word.contains('='))
        .peekable();
    let program = words.peek().copied().unwrap_or_default();
    if program.starts_with("scripts/") || program.starts_with(".ci/") {
        let mode =
            fs::metadata(root().join(program)).unwrap_or_else(|error| panic!("{program}: {error}"));
        assert_eq!(
            mode.permissions().mode() & 0o111,
            0o111,
            "{program} may not be run"
        );
    }
    assert_names_packages(&words.collect::<Vec<_>>());
}

/// What `--package` and `--test` name exists.
#[track_caller]
fn assert_names_packages(words: &[&str]) {
    let after = |flag: &str| {
        words
            .windows(2)
            .find(|pair| pair[0] == flag)
            .map(|pair| pair[1])
    };
    let Some(package) = after("--package") else {
        return;
    };
    let name = package.trim_start_matches("terca-");
    let dir = if name == "benches" {
        root().join(name)
    } else {
        root().join("crates").join(name)
    };
    assert!(
        dir.join("Cargo.toml").is_file(),
        "there is no package {package}"
    );
    if let Some(test) = after("--test") {
        let tests = dir.join("tests").join(test);
        assert!(
            tests.with_extension("rs").is_file() || tests.join("main.rs").is_file(),
            "{package} has no tests {test}"
        );
    }
}

/// The README begins with `cargo run`, and there are other programs in the workspace.
#[test]
fn cargo_run_is_terca() {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let default = metadata["workspace_default_members"].as_array().unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let runs: Vec<&Value> = packages
        .filter(|package| default.contains(&package["id"]))
        .map(|package| &package["default_run"])
        .filter(|program| !program.is_null())
        .collect();
    assert_eq!(runs, ["terca"]);
}

#[test]
fn the_recipes_run_what_there_is() {
    let justfile = read("justfile");
    let lines: Vec<&str> = justfile
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .collect();
    assert!(lines.len() > 10, "{lines:?}");
    lines.iter().for_each(|line| assert_can_be_run(line));
    let told = read("CONTRIBUTING.md");
    let recipes = justfile
        .lines()
        .filter(|line| line.ends_with(':') && !line.starts_with([' ', '#']));
    for recipe in recipes.filter_map(|line| line.split([' ', ':']).next()) {
        let is_told =
            told.contains(&format!("`just {recipe}")) || ["default", "install"].contains(&recipe);
        assert!(is_told, "CONTRIBUTING.md does not tell of `just {recipe}`");
    }
}

#[test]
fn the_aliases_of_cargo_name_what_there_is() {
    let settings: toml::Table = read(".cargo/config.toml").parse().unwrap();
    for (alias, command) in settings["alias"].as_table().unwrap() {
        let words: Vec<&str> = match command {
            toml::Value::String(line) => line.split_whitespace().collect(),
            other => other
                .as_array()
                .unwrap()
                .iter()
                .filter_map(toml::Value::as_str)
                .collect(),
        };
        assert!(
            ["clippy", "test", "run"].contains(&words[0]),
            "{alias}: {}",
            words[0]
        );
        assert_names_packages(&words);
        assert!(
            read("CONTRIBUTING.md").contains(&format!("cargo {alias}")),
            "{alias}"
        );
    }
}

#[test]
fn the_workflow_builds_every_package_with_what_there_is() {
    let workflow: Value = serde_saphyr::from_str(&read(".github/workflows/ci.yml")).unwrap();
    let jobs = workflow["jobs"].as_object().unwrap();
    for (name, job) in jobs {
        assert!(
            job["runs-on"].is_string() && job["timeout-minutes"].is_number(),
            "{name}"
        );
        for step in job["steps"].as_array().unwrap() {
            assert!(
                step["uses"].is_string() != step["run"].is_string(),
                "{name}: {step}"
            );
            step["run"]
                .as_str()
                .unwrap_or_default()
                .lines()
                .for_each(assert_can_be_run);
        }
    }
    let built = jobs["npm"]["strategy"]["matrix"]["include"]
        .as_array()
        .unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let built: BTreeSet<_> = built
        .iter()
        .map(|one| (text(&one["platform"]), text(&one["target"])))
        .collect();
    let platforms: Value = serde_json::from_str(&read("npm/platforms.json")).unwrap();
    let platforms = platforms
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, target)| (name.clone(), text(target)));
    assert_eq!(built, platforms.collect());
}

#[test]
fn the_changes_of_this_version_are_told() {
    let heading = format!("\n## [{}] - ", env!("CARGO_PKG_VERSION"));
    assert!(
        read("CHANGELOG.md").contains(&heading),
        "CHANGELOG.md has no section{heading}"
    );
}

#[test]
fn what_may_be_depended_on_is_written_down() {
    let settings: toml::Table = read("deny.toml").parse().unwrap();
    let sections: BTreeSet<&str> = settings.keys().map(String::as_str).collect();
    assert_eq!(
        sections,
        ["advisories", "bans", "graph", "licenses", "sources"].into()
    );
    let ours: toml::Table = read("Cargo.toml").parse().unwrap();
    let allowed = settings["licenses"]["allow"].as_array().unwrap();
    assert!(
        allowed.contains(&ours["workspace"]["package"]["license"]),
        "{allowed:?}"
    );
}
