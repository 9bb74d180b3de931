//! `terca init` in a library: the suite is about it, and proves something.

use camino::Utf8Path;
use terca_testkit::{Outcome, Project};

use crate::common::project;

/// A copy of a real library.
fn library(name: &str) -> Project {
    let from = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/libraries")
        .join(name);
    let mut project = project().directory(".git");
    let mut unseen = vec![from.clone()];
    while let Some(dir) = unseen.pop() {
        for entry in dir.read_dir_utf8().unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                unseen.push(path.to_owned());
            } else {
                let text = std::fs::read_to_string(path).unwrap();
                project = project.file(path.strip_prefix(&from).unwrap().as_str(), text);
            }
        }
    }
    project
}

fn init(project: &Project) -> Outcome {
    project
        .terca(&["init", "--yes", "--agent", "oracle"])
        .expect_status(0)
}

/// Checks the suite, and proves both of its evals.
fn prove(project: &Project) {
    let checked = project.terca(&["-C", "evals", "check"]).expect_status(0);
    assert!(!checked.stderr.contains("warning"), "{}", checked.stderr);
    let proven = project.terca(&["-C", "evals", "validate"]).expect_status(0);
    let count = proven
        .stdout
        .lines()
        .filter(|line| line.ends_with(" proven"))
        .count();
    assert_eq!(count, 2, "{}{}", proven.stdout, proven.stderr);
}

#[test]
fn a_python_library_is_copied_into_the_workspace() {
    let project = library("iniconfig").file("AGENTS.md", "- Use it.\n");
    let told = init(&project).stderr;
    for part in [
        "iniconfig (pyproject.toml)",
        "Python",
        "pytest",
        "AGENTS.md",
        "terca validate",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let suite = project.read("evals/terca.yaml");
    assert!(suite.contains("rules: ../AGENTS.md "), "{suite}");
    prove(&project);
}

#[test]
fn a_rust_library_is_copied_into_the_workspace() {
    let project = project()
        .file(
            "Cargo.toml",
            "[package]\nname = \"tiny-add\"\nversion = \"0.3.1\"\nedition = \"2021\"\n",
        )
        .file(
            "src/lib.rs",
            "pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n",
        );
    let told = init(&project).stderr;
    assert!(told.contains("tiny-add 0.3.1 (Cargo.toml)"), "{told}");
    assert!(project.path("evals/rules/AGENTS.md").is_file());
    project.terca(&["-C", "evals", "check"]).expect_status(0);
}

#[test]
fn a_go_library_is_found() {
    let project = project()
        .file("go.mod", "module example.com/tiny\n\ngo 1.21\n")
        .file("tiny.go", "package tiny\n");
    let told = init(&project).stderr;
    assert!(told.contains("example.com/tiny (go.mod)"), "{told}");
    project.terca(&["-C", "evals", "check"]).expect_status(0);
}

#[test]
fn a_typescript_library_is_found_from_a_directory_below() {
    let project = library("tiny-invariant").directory("packages/deep");
    let outcome = project.terca(&["-C", "packages/deep", "init", "--yes", "--agent", "oracle"]);
    let told = outcome.expect_status(0).stderr;
    for part in ["tiny-invariant 1.3.3", "TypeScript", "jest"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let suite = project.read("packages/deep/evals/terca.yaml");
    assert!(suite.contains("- ../../../package.json\n"), "{suite}");
    project
        .terca(&["-C", "packages/deep/evals", "check"])
        .expect_status(0);
}

#[test]
fn a_suite_is_not_made_behind_a_link_nor_in_a_home() {
    let project = library("iniconfig")
        .directory("elsewhere")
        .symlink("evals", "elsewhere");
    let refused = project.terca(&["init", "--yes"]).expect_status(2);
    assert!(
        refused.stderr.contains("evals is a link"),
        "{}",
        refused.stderr
    );
    let home = project.home().to_string();
    for (place, name) in [("/", "/"), (home.as_str(), home.as_str())] {
        let refused = project.terca(&["init", place, "--yes"]).expect_status(2);
        assert!(
            refused
                .stderr
                .contains(&format!("not made in {name} itself")),
            "{}",
            refused.stderr
        );
    }
    assert!(
        project
            .path("elsewhere")
            .read_dir_utf8()
            .unwrap()
            .next()
            .is_none()
    );
}
