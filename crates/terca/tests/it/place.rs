//! Where a command works: the suite around the directory that it is started in.

use camino::Utf8Path;
use serde_json::Value;
use terca_testkit::{Outcome, Project};

use crate::common::project;

const EVAL: &str = "prompt: go\ntests: [{commandSuccess: 'true'}]\n";
const SUITE: &str = "environments: [{name: default, agent: nop}]\n";

/// A suite in `evals`, below a library.
fn library() -> Project {
    project()
        .file("package.json", "{}")
        .file("evals/terca.yaml", SUITE)
        .file("evals/group/fib/eval.terca.yaml", EVAL)
        .file("evals/group/fib/_tests/deep/x", "")
        .file("evals/group/sort/eval.terca.yaml", EVAL)
        .file("evals/other/eval.terca.yaml", EVAL)
}

/// Runs the program in a directory.
fn at(project: &Project, dir: &str, args: &[&str]) -> Outcome {
    let mut command = project.command(args);
    let output = command.current_dir(project.path(dir)).output();
    output.expect("the program starts").into()
}

/// The directories below another that have runs.
fn places_of_runs(dir: &Utf8Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut unseen = vec![dir.to_owned()];
    while let Some(here) = unseen.pop() {
        for entry in here.read_dir_utf8().unwrap().flatten() {
            if entry.file_name() == ".terca" {
                found.push(here.strip_prefix(dir).unwrap().to_string());
            } else if entry.file_type().unwrap().is_dir() {
                unseen.push(entry.path().to_owned());
            }
        }
    }
    found
}

#[test]
fn commands_work_from_any_directory_below_the_suite() {
    let project = library();
    let note = format!("note: using the suite in {}", project.path("evals"));
    for dir in [
        "evals/group", "evals/group/fib", "evals/group/fib/_tests/deep",
    ] {
        let checked = at(&project, dir, &["check"]).expect_status(0);
        assert!(
            checked.stdout.contains("3 trials"),
            "{dir}: {}",
            checked.stdout
        );
        assert_eq!(checked.stderr.lines().next(), Some(&*note), "{dir}");
        at(&project, dir, &["--format", "plain"]).expect_status(0);
        assert_eq!(places_of_runs(&project.dir()), ["evals"], "{dir}");
        for command in ["list", "show", "verify"] {
            let outcome = at(&project, dir, &[command]).expect_status(0);
            assert!(
                outcome.stderr.contains(&note),
                "{dir}, {command}: {}",
                outcome.stderr
            );
        }
    }
    // In the suite's own directory there is nothing to say.
    let here = at(&project, "evals", &["check"]).expect_status(0);
    assert!(!here.stderr.contains("note: using"), "{}", here.stderr);
    // `-C` starts there, and needs no word either where it names the suite itself.
    let outcome = project
        .terca(&["-C", "evals/group/fib", "check"])
        .expect_status(0);
    assert!(outcome.stderr.contains(&note), "{}", outcome.stderr);
    let outcome = project.terca(&["-C", "evals", "check"]).expect_status(0);
    assert!(
        !outcome.stderr.contains("note: using"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn json_has_no_word_about_the_place() {
    let project = library();
    for command in ["check", "plan"] {
        let outcome = at(&project, "evals/group", &[command, "--format", "json"]).expect_status(0);
        let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert!(answer.is_object(), "{command}");
    }
}

#[test]
fn above_a_suite_the_way_to_it_is_named_and_nothing_is_run() {
    let project = library();
    for args in [
        &[][..],
        &["run"],
        &["check"],
        &["validate"],
        &["plan"],
        &["show"],
        &["list"],
        &["compare"],
        &["clean"],
        &["resume"],
    ] {
        let outcome = project.terca(args).expect_status(2);
        let said = &outcome.stderr;
        assert!(said.starts_with("error[no-suite]"), "{args:?}: {said}");
        assert!(
            said.contains("help: did you mean `cd evals`?"),
            "{args:?}: {said}"
        );
    }
    assert_eq!(places_of_runs(&project.dir()), [""; 0]);
    // What is suggested works.
    project.terca(&["-C", "evals", "check"]).expect_status(0);
}

#[test]
fn several_suites_below_are_listed() {
    let project = library().file("more evals/terca.yaml", SUITE);
    for command in ["check", "list"] {
        let outcome = project.terca(&[command]).expect_status(2);
        let said = &outcome.stderr;
        assert!(said.starts_with("error[no-suite]"), "{command}: {said}");
        assert!(
            said.contains("`-C`: evals, 'more evals'"),
            "{command}: {said}"
        );
    }
}

#[test]
fn evals_without_a_suite_file_are_a_suite_of_their_own() {
    let project = project().file("fib/eval.terca.yaml", EVAL);
    project.terca(&["--agent", "nop"]).expect_status(0);
    assert_eq!(places_of_runs(&project.dir()), [""]);
    project.terca(&["show"]).expect_status(0);
}

#[test]
fn runs_of_other_suites_are_shown_from_anywhere() {
    let project = library();
    project.terca(&["-C", "evals"]).expect_status(0);
    let runs = project.path("evals/.terca/runs");
    let run = runs.read_dir_utf8().unwrap().next().unwrap().unwrap();
    let shown = project
        .terca(&["verify", run.path().as_str()])
        .expect_status(0);
    assert!(shown.stdout.contains("sound"), "{}", shown.stdout);
}

#[test]
fn paths_of_a_selection_begin_where_the_user_is() {
    let project = library();
    for (dir, args, expected) in [
        ("evals", &["-t", "group/fib"][..], &["fib"][..]),
        ("evals", &["-t", "./group/"], &["fib", "sort"]),
        ("evals/group", &["-t", "fib"], &["fib"]),
        ("evals/group", &["-t", "."], &["fib", "sort"]),
        ("evals/group", &["-t", "!fib"], &["other", "sort"]),
        ("evals/group/fib", &["-t", "."], &["fib"]),
        (
            "evals/group/fib",
            &["-t", "../sort,../../other"],
            &["other", "sort"],
        ),
        ("evals/group/fib", &["-t", "eval.terca.yaml"], &["fib"]),
        ("", &["-C", "evals", "-t", "evals/group/fib"], &["fib"]),
        ("", &["-C", "evals", "-t", "group/fib"], &["fib"]),
    ] {
        let args = [&["--dry-run"], args].concat();
        let outcome = at(&project, dir, &args).expect_status(0);
        let mut names: Vec<&str> = outcome
            .stdout
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1)?.split('/').next())
            .collect();
        names.sort_unstable();
        assert_eq!(names, expected, "{dir}: {args:?}");
    }
    // A run knows them by the suite, so that it can be finished from elsewhere.
    at(&project, "evals/group/fib", &["-t", "."]).expect_status(0);
    let outcome = project.terca(&["-C", "evals", "resume"]).expect_status(0);
    assert!(
        outcome.stderr.contains("nothing is left"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn files_with_almost_the_right_name_are_named() {
    for (file, text, right) in [
        ("terca.yml", SUITE, "terca.yaml"),
        ("Terca.yaml", SUITE, "terca.yaml"),
        ("eval.yaml", EVAL, "eval.terca.yaml"),
        ("fib/eval.terca.yml", EVAL, "eval.terca.yaml"),
    ] {
        let project = project().file(file, text);
        for command in ["run", "check", "validate"] {
            let outcome = project.terca(&[command]).expect_status(2);
            let expected = format!("help: Terca does not read {file}: rename it to {right}");
            assert!(
                outcome.stderr.contains(&expected),
                "{command}: {}",
                outcome.stderr
            );
        }
        assert_eq!(places_of_runs(&project.dir()), [""; 0]);
    }
    // Evals beside the wrong name are not taken for a suite without one.
    let project = project()
        .file("terca.yml", SUITE)
        .file("fib/eval.terca.yaml", EVAL);
    let outcome = project.terca(&["check"]).expect_status(2);
    assert!(
        outcome.stderr.contains("rename it to terca.yaml"),
        "{}",
        outcome.stderr
    );
}
