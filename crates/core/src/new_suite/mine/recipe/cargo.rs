//! Rust: the crates are kept in the workspace, since neither agents nor tests have a registry.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Part, Project, Recipe, enter, traced, within};
use crate::text::shell::quoted;

const SETTINGS: &str = ".cargo/config.toml";
/// Makes cargo use the crates that are kept.
pub(super) const KEEP: &str = "mkdir -p .cargo && printf '\\n[source.crates-io]\\nreplace-with = \"kept\"\\n\\n[source.kept]\\n\
                               directory = \"vendor\"\\n' >> .cargo/config.toml";
/// Tells the same to the cargo of the tests, which finds the settings of the commit.
const KEPT: &str = "--config 'source.crates-io.replace-with=\"kept\"' --config 'source.kept.directory=\"vendor\"' ";

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let root = root(part.dir, project);
    let lock = project.text(&root, "Cargo.lock");
    let own = project.text(&root, SETTINGS).unwrap_or_default();
    // A project that names another source keeps its crates itself.
    let needs_crates =
        lock.as_ref().is_none_or(|lock| lock.contains("source = ")) && !own.contains("[source.");
    let locked = if lock.is_some() { " --locked" } else { "" };
    let vendor = format!("cargo vendor -q{locked} vendor > vendor.log");
    let kept = if needs_crates { KEPT } else { "" };
    let inside = part.dir.strip_prefix(&root).unwrap_or(part.dir);
    let manifest = quoted(inside.join("Cargo.toml").as_str());
    let targets = targets(part, project);
    let command = format!("cargo test --offline {kept}--manifest-path {manifest} {targets}");
    let run = traced(&command, r"^test result: ok\. [1-9]");
    let setup = [vendor.as_str(), KEEP].map(|command| within(&root, command));
    Recipe {
        tag: "rust",
        setup: setup.into_iter().filter(|_| needs_crates).collect(),
        // Cargo looks for its settings from the directory that it is started in.
        check: enter(&root) + &run,
        settings: vec![root.join(SETTINGS), root.join(".cargo/config")],
        script: None,
    }
}

/// Returns the directory of the workspace: the highest one above with a lock file, or else that of a workspace, or else the
/// crate's.
fn root(dir: &Utf8Path, project: &Project<'_>) -> Utf8PathBuf {
    let highest =
        |is_root: &dyn Fn(&Utf8Path) -> bool| dir.ancestors().filter(|dir| is_root(dir)).last();
    let is_workspace = |dir: &Utf8Path| {
        let manifest = project.text(dir, "Cargo.toml").unwrap_or_default();
        manifest.lines().any(|line| line.trim() == "[workspace]")
    };
    highest(&|dir| project.has(dir, "Cargo.lock"))
        .or_else(|| highest(&is_workspace))
        .unwrap_or(dir)
        .to_owned()
}

/// Returns the targets that hold the tests. Tests in a file below `src` are in the library or in a program, and a directory below
/// `tests` is a target when it has a `main.rs`; otherwise it belongs to all.
fn targets(part: &Part<'_>, project: &Project<'_>) -> String {
    let manifest = project.text(part.dir, "Cargo.toml").unwrap_or_default();
    let has_library =
        project.has(part.dir, "src/lib.rs") || manifest.lines().any(|line| line.trim() == "[lib]");
    let target = |test: &Utf8Path| {
        let Ok(inside) = test.strip_prefix("tests") else {
            let library = if has_library { "--lib " } else { "" };
            return Some(format!("{library}--bins"));
        };
        let name = inside.components().next()?.as_str();
        let is_file = inside.as_str() == name;
        let is_target = is_file || project.has(&part.dir.join("tests").join(name), "main.rs");
        is_target.then(|| format!("--test {}", quoted(name.trim_end_matches(".rs"))))
    };
    let targets: BTreeSet<String> = part.inside().filter_map(target).collect();
    match targets.is_empty() {
        true => "--tests".to_owned(),
        false => Vec::from_iter(targets).join(" "),
    }
}
