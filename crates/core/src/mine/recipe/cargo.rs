//! Rust: the crates are kept in the workspace, since neither agents nor tests have a registry.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Part, Project, Recipe, Step, within};
use crate::text::shell::quoted;

const SETTINGS: &str = ".cargo/config.toml";
const KEPT_CRATES: &str =
    "[source.crates-io]\nreplace-with = \"kept\"\n\n[source.kept]\ndirectory = \"vendor\"\n";

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let root = root(part.dir, project);
    let lock = project.text(&root, "Cargo.lock");
    let needs_crates = lock.as_ref().is_none_or(|lock| lock.contains("source = "));
    let mut setup = Vec::new();
    if needs_crates {
        let locked = if lock.is_some() { " --locked" } else { "" };
        let command = format!("cargo vendor -q{locked} vendor > vendor.log");
        setup.push(Step::Command(within(&root, &command)));
        let own = project.text(&root, SETTINGS).unwrap_or_default();
        let settings = format!(
            "{own}{}{KEPT_CRATES}",
            if own.is_empty() { "" } else { "\n" }
        );
        setup.push(Step::File(root.join(SETTINGS), settings));
    }
    let manifest = quoted(part.dir.join("Cargo.toml").as_str());
    let targets: Vec<String> = targets(part).into_iter().collect();
    let report = "\"$TMPDIR/ran\"";
    let check = format!(
        "cargo test --offline --manifest-path {manifest} {} > {report} 2>&1 || {{ cat {report}; exit 1; }}\n\
         cat {report}\ngrep -q '^test result: ok\\. [1-9]' {report}\n",
        targets.join(" ")
    );
    Recipe {
        tag: "rust",
        setup,
        check,
        settings: vec![root.join(SETTINGS), root.join(".cargo/config")],
        files: Vec::new(),
    }
}

/// Returns the directory of the workspace: the highest one above with a lock file, or else the crate's.
fn root(dir: &Utf8Path, project: &Project<'_>) -> Utf8PathBuf {
    let above = dir
        .ancestors()
        .filter(|above| project.has(above, "Cargo.lock"));
    above.last().unwrap_or(dir).to_owned()
}

/// Returns the flags for the targets that have the tests.
fn targets(part: &Part<'_>) -> BTreeSet<String> {
    let target = |test: &Utf8Path| {
        let mut parts = test.components().map(|part| part.as_str());
        match (parts.next(), parts.next()) {
            (Some("tests"), Some(name)) => {
                let name = name.strip_suffix(".rs").unwrap_or(name);
                format!("--test {}", quoted(name))
            }
            _ => "--lib --bins".to_owned(),
        }
    };
    part.inside().map(target).collect()
}
