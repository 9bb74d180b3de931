//! Rust: the crates are kept in the workspace, since neither agents nor tests have a registry.

mod crates;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use super::super::choice::{Role, role_of};
use super::super::code::inline::{ADDED, has_tests};
use super::{Part, Project, Recipe, SHOWN, Step, enter};
use crate::text::prose;
use crate::text::shell::quoted;

const SETTINGS: &str = ".cargo/config.toml";
/// Makes cargo use the crates that are kept.
pub(super) const KEEP: &str = "mkdir -p .cargo && printf '\\n[source.crates-io]\\nreplace-with = \"kept\"\\n\\n[source.kept]\\n\
                               directory = \"vendor\"\\n' >> .cargo/config.toml";
/// Tells the same to the cargo of the tests, which finds the settings of the commit.
const KEPT: &str = "--config 'source.crates-io.replace-with=\"kept\"' --config 'source.kept.directory=\"vendor\"' ";

/// Empties crates that are for Windows alone: cargo wants them to be there, and they are larger than all others.
pub(super) const WITHOUT_WINDOWS: &str = " && for lib in vendor/windows[-_]* vendor/winapi*; do \
     [ ! -d \"$lib\" ] || { rm -rf \"$lib/src\" \"$lib/lib\" && mkdir \"$lib/src\" && : > \"$lib/src/lib.rs\"; }; done";

/// Makes cargo compile all files of the project again: it goes by their times, and a hidden file may be older than what the
/// agent compiled.
const TOUCH: &str = "find . \\( -name target -o -name vendor -o -name .git -o -name node_modules \\) -prune -o -type f -exec touch {} +\n";

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let root = root(part.dir, project);
    let lock = project.text(&root, "Cargo.lock");
    let own = project.text(&root, SETTINGS).unwrap_or_default();
    // A project that names another source keeps its crates itself.
    let needs_crates =
        lock.as_ref().is_none_or(|lock| lock.contains("source = ")) && !own.contains("[source.");
    let locked = if lock.is_some() { " --locked" } else { "" };
    let vendor = format!("cargo vendor -q{locked} vendor > vendor.log{WITHOUT_WINDOWS}");
    let kept = if needs_crates { KEPT } else { "" };
    let inside = part.dir.strip_prefix(&root).unwrap_or(part.dir);
    let manifest = quoted(inside.join("Cargo.toml").as_str());
    let cargo = format!("cargo test --offline {kept}--manifest-path {manifest}");
    let run = |targets: &String| format!("{cargo} --no-fail-fast {targets} >> \"$report\" 2>&1\n");
    let runs: String = targets(part, project).iter().map(run).collect();
    // Each grading would compile all crates again. Tests that do not compile before the commit are no error.
    let build = format!("{cargo} --no-run --tests > cargo.log 2>&1 || true");
    let keep = format!("{vendor} && {KEEP}");
    let mut setup = Vec::new();
    if needs_crates {
        setup.extend(crates::step(&root, project, &keep, &cargo));
        setup.push(Step::within(
            &root,
            &format!("[ -d vendor ] || {{ {keep}; }}"),
        ));
    }
    setup.push(Step::within(&root, &build));
    Recipe {
        tag: "rust",
        tool: "cargo",
        setup,
        // They make what is compiled smaller, which each trial begins with.
        env: vec![("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "0")],
        // Cargo looks for its settings from the directory that it is started in.
        check: enter(&root) + TOUCH + &runs + SHOWN,
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

/// Returns the targets and the names of the tests to run, a text for each time that cargo is started.
fn targets(part: &Part<'_>, project: &Project<'_>) -> Vec<String> {
    // Cargo refuses to test the library of a crate that has none.
    let manifest = project.text(part.dir, "Cargo.toml").unwrap_or_default();
    let has_library =
        project.has(part.dir, "src/lib.rs") || manifest.lines().any(|line| line.trim() == "[lib]");
    let library = if has_library { "--lib " } else { "" };
    let mut added = None;
    let mut whole: BTreeSet<String> = BTreeSet::new();
    let mut by_module: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (test, inside) in part.tests.iter().zip(part.inside()) {
        if role_of(test) == Role::Code {
            added = Some(format!("{library}--bins -- {ADDED}"));
            continue;
        }
        let Some((name, rest)) = below_tests(inside) else {
            whole.insert(format!("{library}--bins"));
            continue;
        };
        match rest {
            None => {
                whole.insert(format!("--test {}", quoted(name)));
            }
            // A directory without it is a module that several targets share.
            Some(rest) if project.has(&part.dir.join("tests").join(name), "main.rs") => {
                let modules = by_module.entry(name).or_default();
                let text = (project.text)(test).unwrap_or_default();
                modules.extend(module(rest).filter(|_| has_tests(&text)));
            }
            Some(_) => {}
        }
    }
    let mut runs = Vec::from_iter(added);
    if !whole.is_empty() {
        runs.push(prose::joined(whole, " "));
    }
    // A large target has many tests that are of other work, take long, or need what a sandbox has not.
    for (name, modules) in by_module {
        let mut words = vec![format!("--test {}", quoted(name))];
        words.extend((!modules.is_empty()).then(|| "--".to_owned()));
        words.extend(modules.iter().map(|module| quoted(module)));
        runs.push(words.join(" "));
    }
    if runs.is_empty() {
        runs.push("--tests".to_owned());
    }
    runs
}

/// Returns the name below `tests`, and the path below that in a directory.
fn below_tests(test: &Utf8Path) -> Option<(&str, Option<&str>)> {
    let rest = test.as_str().strip_prefix("tests/")?;
    Some(match rest.split_once('/') {
        Some((name, rest)) => (name, Some(rest)),
        None => (rest.strip_suffix(".rs").unwrap_or(rest), None),
    })
}

/// Returns the beginning of the names of a file's tests; none for the root of the target.
fn module(path: &str) -> Option<String> {
    let path = path.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    (path != "main").then(|| format!("{}::", path.replace('/', "::")))
}
