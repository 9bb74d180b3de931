//! `terca import exercism`: exercises become evals that prove themselves.

use super::verdict;
use crate::common::project;
use crate::common::proof::SOUND;
use camino::Utf8Path;
use terca_testkit::Project;

const TWICE: &str = "track/rust/exercises/practice/twice";

/// An exercise, and the Cargo that builds these tests: the home of a test has no settings of rustup.
fn twice(project: Project) -> Project {
    let file = |name: &str| format!("{TWICE}/{name}");
    let tools = Utf8Path::new(env!("CARGO")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    project
        .env("PATH", &format!("{tools}:{path}"))
        .file(
            &file(".meta/config.json"),
            r#"{"blurb": "Double it", "files": {"solution": ["src/lib.rs", "Cargo.toml"], "test": ["tests/twice.rs"],
                "example": [".meta/example.rs"]}}"#,
        )
        .file(&file(".docs/instructions.md"), "# Instructions\n\nDouble a number.\n")
        .file(&file(".meta/example.rs"), "pub fn twice(n: i32) -> i32 {\n    n + n\n}\n")
        .file(&file("Cargo.toml"), "[package]\nname = \"twice\"\nversion = \"1.0.0\"\nedition = \"2021\"\n")
        .file(&file("src/lib.rs"), "pub fn twice(_n: i32) -> i32 {\n    todo!()\n}\n")
        .file(
            &file("tests/twice.rs"),
            "use twice::twice;\n\n#[test]\nfn zero() {\n    assert_eq!(twice(0), 0);\n}\n\n#[test]\n#[ignore]\nfn four() {\n    assert_eq!(twice(2), 4);\n}\n",
        )
}

fn in_java(project: Project) -> Project {
    let file = |name: &str| format!("track/java/exercises/practice/twice/{name}");
    project
        .file(
            &file(".meta/config.json"),
            r#"{"files": {"solution": ["src/main/java/Twice.java"], "test": ["src/test/java/TwiceTest.java"]}}"#,
        )
        .file(&file(".docs/instructions.md"), "Double a number.\n")
        .file(&file("src/main/java/Twice.java"), "class Twice {}\n")
        .file(&file("src/test/java/TwiceTest.java"), "class TwiceTest {}\n")
}

#[test]
fn an_exercise_is_proven_and_its_skipped_tests_run() {
    let project = twice(project());
    let outcome = project
        .terca(&["import", "exercism", "track", "--to", "evals"])
        .expect_status(0);
    assert_eq!(outcome.stdout, "evals/rust-twice\n1 eval imported\n");
    let outcome = project.terca(&["-C", "evals", "validate"]).expect_status(0);
    assert!(
        verdict(&outcome.stdout, "rust-twice").ends_with(SOUND),
        "{}",
        outcome.stdout
    );

    // Who solves the first test alone has not solved it, whatever becomes of the other files.
    let project = project.agent(
        "echo 'pub fn twice(_: i32) -> i32 { 0 }' > src/lib.rs; mkdir tests; echo > tests/twice.rs",
    );
    project
        .terca(&["import", "exercism", "track"])
        .expect_status(0);
    project.terca(&["-t", "rust-twice"]).expect_status(1);
    let trial = project.only_trial();
    assert!(trial["tests"].to_string().contains("four"), "{trial}");
    project.assert_nothing_left();
}

#[test]
fn an_exercise_that_needs_packages_is_incomplete() {
    let project = in_java(twice(project()));
    let outcome = project
        .terca(&["import", "exercism", "track"])
        .expect_status(1);
    let summary = "2 evals imported: 1 needs packages; 1 is incomplete and does not run until it is completed\n";
    assert!(outcome.stdout.ends_with(summary), "{}", outcome.stdout);
    assert_eq!(
        outcome.stdout.matches("lost: ").count(),
        1,
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_wrong_directory_is_told_what_it_holds() {
    let project = twice(project())
        .file("tasks/a/task.yaml", "")
        .file("empty/x", "");
    let outcome = project
        .terca(&["import", "exercism", "tasks"])
        .expect_status(2);
    for part in [
        "there is no task of Exercism in tasks: no directory has a `.meta/config.json`",
        "help: tasks/a is a task of Terminal-Bench 1 (task.yaml): `terca import terminal-bench` takes it",
    ] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let outcome = project
        .terca(&["import", "harbor", "empty"])
        .expect_status(2);
    let help = "help: `terca import --help` lists the formats";
    assert!(outcome.stderr.contains(help), "{}", outcome.stderr);
}
