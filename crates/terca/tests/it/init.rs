//! `terca init` in a library: the suite is about it, and proves something.

use terca_testkit::{Outcome, Project, Terminal};

use crate::common::layouts::{Layout, OF_GO, OF_REGISTRIES, OF_RUST};
use crate::common::libraries::{crate_in_rust, library, module_in_go};
use crate::common::project;
use crate::common::proof::SOUND;

fn init(project: &Project) -> Outcome {
    project
        .terca(&["init", "--yes", "--agent", "oracle", "--no-validate"])
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
        .filter(|line| line.ends_with(SOUND))
        .count();
    assert_eq!(count, 2, "{}{}", proven.stdout, proven.stderr);
}

#[test]
fn a_rust_library_is_copied_into_the_workspace() {
    let project = crate_in_rust();
    let told = init(&project).stderr;
    assert!(told.contains("tiny-add 0.3.1 (Cargo.toml)"), "{told}");
    assert!(project.path("evals/rules/AGENTS.md").is_file());
    prove(&project);
}

#[test]
fn a_go_library_is_found() {
    let project = module_in_go();
    let told = init(&project).stderr;
    assert!(told.contains("example.com/tiny (go.mod)"), "{told}");
    let checked = project.terca(&["-C", "evals", "check"]).expect_status(0);
    assert_eq!(checked.stderr, "", "not a warning either");
}

#[test]
fn hidden_tests_use_the_runner_of_the_library() {
    let vitest = r#"{"name": "tinyq", "type": "module", "scripts": {"test": "vitest run"}}"#;
    let libraries = [
        (
            library("iniconfig")
                .file(".venv/bin/python", "")
                .file(".venv/bin/pytest", ""),
            "/../.venv/bin/python\" -I -m pytest",
        ),
        (
            project()
                .file("package.json", vitest)
                .file("index.js", "export const one = 1;\n")
                .file("node_modules/vitest/vitest.mjs", ""),
            "node \"$TERCA_SUITE_DIR/../node_modules/vitest/vitest.mjs\" run",
        ),
    ];
    for (project, command) in libraries {
        // Outside of git, no sandbox shows the library.
        let project = project.file(".git/HEAD", "");
        init(&project);
        let eval = project.read("evals/001-exports/eval.terca.yaml");
        assert!(eval.contains(command), "{eval}");
        let checked = project.terca(&["-C", "evals", "check"]).expect_status(0);
        assert_eq!(checked.stderr, "", "not a warning either");
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for project in [
        library("tiny-invariant"),
        library("iniconfig"),
        crate_in_rust(),
        module_in_go(),
    ] {
        let command = project.command(&[
            "init", "--yes", "--agent", "oracle", "--no-validate", "--color", "never",
        ]);
        let (status, text) = Terminal::sized(command, 80, 50).finish();
        assert_eq!(status, 0, "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}\n{text}");
        }
    }
}

#[test]
fn the_first_eval_can_have_the_name_of_the_second() {
    for name in ["002-kinds", "group/002-kinds", "002-kinds/first"] {
        let project = library("iniconfig");
        project
            .terca(&[
                "init", "--yes", "--agent", "oracle", "--no-validate", "--eval", name,
            ])
            .expect_status(0);
        assert!(project.path("evals/003-kinds/eval.terca.yaml").is_file());
        let checked = project.terca(&["-C", "evals", "check"]).expect_status(0);
        assert_eq!(checked.stderr, "", "{name}");
    }
}

#[test]
fn one_more_eval_is_in_the_language_of_the_suite() {
    let libraries = [
        (library("tiny-invariant"), "_solution/much-more.mjs"),
        (library("iniconfig"), "_solution/much_more.py"),
        (crate_in_rust(), "_solution/src/main.rs"),
        (module_in_go(), "_solution/main.go"),
    ];
    for (project, solution) in libraries {
        init(&project);
        let inside = ["-C", "evals", "create-eval", "group/much-more"];
        project.terca(&inside).expect_status(0);
        let more = project.path("evals/group/003-much-more");
        assert!(more.join(solution).is_file(), "{solution}");
        let checked = project.terca(&["-C", "evals", "check"]).expect_status(0);
        assert_eq!(checked.stderr, "", "{solution}");
    }
    // A suite in a library that is not about it.
    let project = library("iniconfig").file(
        "evals/terca.yaml",
        "environments: [{name: e, agent: oracle}]\n",
    );
    project
        .terca(&["-C", "evals", "create-eval", "more"])
        .expect_status(0);
    assert!(project.path("evals/more/_solution/more.sh").is_file());
}

#[test]
fn a_typescript_library_is_found_from_a_directory_below() {
    let project = library("tiny-invariant").directory("packages/deep");
    let outcome = project.terca(&[
        "-C", "packages/deep", "init", "--yes", "--agent", "oracle", "--no-validate",
    ]);
    let told = outcome.expect_status(0).stderr;
    for part in ["tiny-invariant 1.3.3", "TypeScript", "node:test"] {
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
    for place in ["/", &home] {
        let refused = project.terca(&["-C", place, "init", "--yes"]);
        let told = refused.expect_status(2).stderr;
        assert!(told.contains(&format!("{place} is no project")), "{told}");
    }
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

/// Adds the programs of Cargo that build these tests: the home of a test has no settings of rustup.
fn with_cargo(project: Project) -> Project {
    let tools = camino::Utf8Path::new(env!("CARGO")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    project.env("PATH", &format!("{tools}:{path}"))
}

#[test]
fn crates_are_proven_in_git_and_outside() {
    for layout in &OF_RUST {
        let project = with_cargo(layout.make()).directory(".git");
        layout.init(&project, &[]);
        layout.assert_written(&project);
        layout.prove(&project, "none");
    }
    let member = &OF_RUST[1];
    let project = with_cargo(member.make());
    member.init(&project, &[]);
    member.assert_checked(&project);
}

#[test]
fn every_layout_is_written_without_a_warning() {
    let all = OF_REGISTRIES.iter().chain(&OF_GO);
    // Nothing is installed: only what the files tell.
    for layout in all {
        for project in [layout.make(), layout.make().directory(".git")] {
            layout.init(&project, &["--no-validate"]);
            layout.assert_checked(&project);
        }
    }
}

#[test]
fn at_the_root_of_a_workspace_a_package_is_chosen() {
    let roots = OF_RUST.iter().chain(&OF_REGISTRIES).chain(&OF_GO);
    let roots: Vec<&Layout> = roots.filter(|layout| layout.package.is_some()).collect();
    assert_eq!(roots.len(), 5);
    for layout in roots {
        let project = layout.make();
        let told = project.terca(&["init", "--yes"]).expect_status(2).stderr;
        let (_, dir) = layout.package.unwrap();
        for part in [
            "is the root of a workspace", dir, "`terca init --yes --package ",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        let wrong = project.terca(&["init", "--yes", "--package", "nothing"]);
        let told = wrong.expect_status(2).stderr;
        assert!(told.contains("has no package `nothing`\n"), "{told}");
        project
            .terca(&["init", "--yes", "--no-library", "--no-validate"])
            .expect_status(0);
        assert!(project.path("evals/001-slug").is_dir());
    }
}

#[test]
fn at_the_root_of_a_workspace_a_person_is_asked() {
    let project = OF_RUST[1].make();
    let args = ["init", "--no-validate", "--color", "never"];
    let mut wizard = Terminal::start(project.command(&args));
    wizard
        .wait_for_sight("> wsa (crates/wsa)")
        .type_in("\u{1b}[B\r")
        .wait_for_sight("[evals]")
        .type_in("\r")
        .wait_for_sight("> Evals of wsb 3.1.0")
        .type_in("\r")
        .wait_for_sight("oracle           built in")
        .type_in("\r");
    let (status, text) = wizard.finish();
    assert_eq!(status, 0, "{text}");
    assert!(project.path("crates/wsb/evals/terca.yaml").is_file());
}

#[test]
fn a_suite_that_is_not_proven_is_not_left() {
    let project = crate_in_rust().file("src/lib.rs", "pub fn broken(\n");
    let init = ["init", "--yes", "--agent", "oracle"];
    let told = project.terca(&init).expect_status(1);
    for part in [
        "001-version is broken", "error[not-proven]", "`--no-validate` keeps the files",
    ] {
        assert!(
            format!("{}{}", told.stdout, told.stderr).contains(part),
            "{part}: {}{}",
            told.stdout,
            told.stderr
        );
    }
    let left = project.path("evals").read_dir_utf8().unwrap();
    let left: Vec<String> = left
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    assert_eq!(left, [".terca"], "the log that the message names");
    let kept = project.terca(&[&init[..], &["--no-validate"]].concat());
    kept.expect_status(0);
    assert!(project.path("evals/terca.yaml").is_file());
}

#[test]
fn rules_that_no_test_can_check_are_told_of() {
    let project = crate_in_rust().file("AGENTS.md", "- Be short.\n");
    init(&project);
    let suite = project.read("evals/terca.yaml");
    assert!(
        suite.contains("# No rule of ../AGENTS.md names code"),
        "{suite}"
    );
}

/// Evals that are graded by Node or Python.
mod needs_test_runners {
    use super::*;

    #[test]
    #[ignore = "needs Node and Python: scripts/test runs it"]
    fn a_python_library_is_copied_into_the_workspace() {
        let project = library("iniconfig").file("AGENTS.md", "- Use it.\n");
        let told = init(&project).stderr;
        for part in [
            "iniconfig (pyproject.toml)", "Python", "unittest", "AGENTS.md", "terca validate",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        let suite = project.read("evals/terca.yaml");
        assert!(suite.contains("rules: ../AGENTS.md "), "{suite}");
        prove(&project);
    }

    #[test]
    #[ignore = "needs Node and Python: scripts/test runs it"]
    fn a_typescript_library_is_packed_as_for_npm() {
        let project = library("tiny-invariant");
        let told = init(&project).stderr;
        assert!(
            told.contains("`prepare` does not build the library"),
            "{told}"
        );
        assert!(told.contains("name your agent in its place"), "{told}");
        prove(&project);
    }

    #[test]
    #[ignore = "needs Node and Python: scripts/test runs it"]
    fn a_library_without_dependencies_is_built() {
        let package = r#"{"name": "tinyq", "version": "1.0.0", "type": "module", "exports": "./dist/index.js", "files": ["dist"],
            "scripts": {"build": "mkdir -p dist && cp src/index.js dist"}}"#;
        let project = project()
            .file("package.json", package)
            .file("src/index.js", "export const one = 1;\n");
        init(&project);
        let suite = project.read("evals/terca.yaml");
        assert!(suite.contains("npm run build"), "{suite}");
        prove(&project);
        assert!(!project.path("dist").exists(), "it is built in a copy");
    }

    #[test]
    #[ignore = "needs Node and Python: scripts/test runs it"]
    fn one_more_eval_is_proven() {
        for project in [
            library("tiny-invariant"),
            library("iniconfig"),
            crate_in_rust(),
        ] {
            init(&project);
            let inside = ["-C", "evals", "create-eval", "more"];
            project.terca(&inside).expect_status(0);
            let proven = project.terca(&["-C", "evals", "validate", "-t", "more"]);
            let proven = proven.expect_status(0).stdout;
            assert!(proven.contains(SOUND), "{proven}");
        }
    }
}
