//! The command line: what is accepted, what is refused, and what is said.

use crate::common::project;
use terca_testkit::Project;

fn small() -> Project {
    project()
        .file(
            "terca.yaml",
            "name: small\nenvironments: [{name: default, agent: nop}]\n",
        )
        .file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        )
}

/// Every command that the program is to have one day.
const COMMANDS: [&str; 17] = [
    "run", "create", "create-eval", "check", "validate", "doctor", "explain", "list", "show",
    "compare", "report", "view", "resume", "regrade", "schema", "completions", "merge",
];

#[test]
fn the_version_is_a_number_and_a_line_end() {
    for args in [&["-v"][..], &["-V"], &["--version"]] {
        let outcome = project().terca(args).expect_status(0);
        assert_eq!(
            outcome.stdout,
            concat!(env!("CARGO_PKG_VERSION"), "\n"),
            "{args:?}"
        );
        assert_eq!(outcome.stderr, "", "{args:?}");
    }
}

#[test]
fn help_lists_the_commands_that_work_and_no_others() {
    let project = project();
    let help = project.terca(&["--help"]).expect_status(0).stdout;
    assert!(help.contains("Exit status: 0 every trial passed"), "{help}");
    for command in COMMANDS {
        let listed = help
            .lines()
            .any(|line| line.split_whitespace().next() == Some(command));
        let outcome = project.terca(&[command, "--help"]);
        let works =
            outcome.status == 0 && outcome.stdout.contains(&format!("Usage: terca {command}"));
        assert_eq!(
            listed, works,
            "`{command}` is listed: {listed}; it works: {works}"
        );
    }
    for command in ["run", "check", "show", "list"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
}

#[test]
fn help_of_help_is_help() {
    let project = project();
    let help = project.terca(&["help"]).expect_status(0).stdout;
    for args in [&["help", "--help"], &["help", "-h"]] {
        assert_eq!(
            project.terca(args).expect_status(0).stdout,
            help,
            "{args:?}"
        );
    }
}

#[test]
fn every_flag_of_run_that_help_lists_is_accepted_by_terca_alone() {
    let project = small();
    let help = project.terca(&["run", "--help"]).expect_status(0).stdout;
    let alone = project.terca(&["-h"]).expect_status(0).stdout;
    let flags: Vec<&str> = help
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("--"))
        .map(|word| word.trim_end_matches([',', '.']))
        .collect();
    assert!(flags.contains(&"repetitions"), "{help}");
    for flag in flags {
        assert!(alone.contains(&format!("--{flag}")), "--{flag}: {alone}");
    }
}

#[test]
fn wrong_usage_is_refused_and_nothing_is_run() {
    let project = small();
    for (args, phrase) in [
        (&["--frobnicate"][..], "unexpected argument '--frobnicate'"),
        (
            &["run", "--frobnicate"],
            "unexpected argument '--frobnicate'",
        ),
        (&["frobnicate"], "no eval matches `frobnicate`"),
        (&["-n=-1"], "invalid value '-1' for '--repetitions <N>'"),
        (
            &["-n", "1.5"],
            "invalid value '1.5' for '--repetitions <N>'",
        ),
        (&["-n"], "a value is required for '--repetitions <N>'"),
        (
            &["-c", "0"],
            "invalid value '0' for '--concurrency <N>': expected a whole number from 1",
        ),
        (
            &["-c", "many"],
            "invalid value 'many' for '--concurrency <N>'",
        ),
        (
            &["--fail-under", "2"],
            "invalid value '2' for '--fail-under <RATE>': expected a share from 0 to 1",
        ),
        (&["--fail-under", "90%"], "expected a share from 0 to 1"),
        (&["--fail-under", "nan"], "expected a share from 0 to 1"),
        (&["--timeout", "-1"], "-1"),
        (
            &["--timeout=-1"],
            "invalid value '-1' for '--timeout <SECONDS>': expected a number of seconds above 0",
        ),
        (&["--timeout", "0"], "expected a number of seconds above 0"),
        (
            &["--timeout", "inf"],
            "expected a number of seconds above 0",
        ),
        (&["--seed", "x"], "invalid value 'x' for '--seed <N>'"),
        (
            &["--format", "xml"],
            "[possible values: auto, tty, plain, json]",
        ),
        (
            &["--color", "pink"],
            "[possible values: auto, always, never]",
        ),
        (
            &["--keep", "some"],
            "[possible values: changed, all, failed, none]",
        ),
        (&["-t"], "a value is required for '--eval <NAME>'"),
        (&["-n", "1", "-n", "2"], "cannot be used multiple times"),
        (&["check", "--dry-run"], "unexpected argument '--dry-run'"),
        (&["list", "extra"], "unexpected argument 'extra'"),
        (&["view", "a", "b"], "unexpected argument 'b'"),
        (&["-t", "fib", "check"], "`--eval`"),
        (&["-n", "2", "run"], "`--repetitions`"),
        (&["--fail-fast", "list"], "`--fail-fast`"),
    ] {
        let outcome = project.terca(args).expect_status(2);
        assert!(
            outcome.stderr.contains(phrase),
            "{args:?}: {}",
            outcome.stderr
        );
        assert_eq!(outcome.stdout, "", "{args:?}");
        assert!(
            !project.path(".terca").exists(),
            "{args:?} left something behind"
        );
    }
}

#[test]
fn the_directory_may_stand_before_and_after_the_command() {
    let project = small();
    let dir = project.dir();
    for args in [
        &["-C", dir.as_str(), "check"][..],
        &["check", "-C", dir.as_str()],
        &["--dir", dir.as_str(), "check"],
        &["-C", dir.as_str(), "--dry-run"],
        &["run", "-C", dir.as_str(), "--dry-run"],
        &["-C", dir.as_str(), "run", "--dry-run"],
    ] {
        let mut command = project.command(args);
        let output = command
            .current_dir(project.home())
            .output()
            .expect("the program starts");
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("fib"),
            "{args:?}"
        );
    }
}

#[test]
fn a_run_elsewhere_is_kept_with_its_suite() {
    let project = small();
    let mut command = project.command(&["-C", "../suite", "run"]);
    let output = command
        .current_dir(project.home())
        .output()
        .expect("the program starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(project.only_trial()["status"], "unverified");
    assert!(!project.home().join(".terca").exists());
}

#[test]
fn directories_without_a_suite_are_refused() {
    let project = project().directory("empty").file("file", "");
    let cases = [
        ("empty", "no suite here"),
        ("no-such-directory", "no-such-directory"),
        ("file", "file"),
    ];
    for (dir, phrase) in cases {
        for command in ["run", "check"] {
            let outcome = project.terca(&[command, "-C", dir]).expect_status(2);
            assert!(
                outcome.stderr.starts_with("error[no-"),
                "{command} {dir}: {}",
                outcome.stderr
            );
            assert!(
                outcome.stderr.contains(phrase),
                "{command} {dir}: {}",
                outcome.stderr
            );
        }
    }
    for command in ["list", "show"] {
        let outcome = project
            .terca(&[command, "-C", "no-such-directory"])
            .expect_status(2);
        assert!(
            outcome.stderr.contains("no-such-directory"),
            "{command}: {}",
            outcome.stderr
        );
    }
    assert!(!project.path("empty/.terca").exists());
}

#[test]
fn without_runs_there_is_nothing_to_list_or_show() {
    let project = small();
    let list = project.terca(&["list"]).expect_status(0);
    assert_eq!(list.stdout, "");
    assert!(list.stderr.contains("no runs yet"), "{}", list.stderr);
    let show = project.terca(&["show"]).expect_status(2);
    assert!(show.stderr.contains("no runs yet"), "{}", show.stderr);
    assert!(!project.path(".terca").exists(), "looking makes nothing");
}

#[test]
fn runs_are_listed_and_shown_by_name_and_number() {
    let project = small();
    project.terca(&["-n", "1"]).expect_status(0);
    let first = project.run_dir();
    project.terca(&["-n", "3"]).expect_status(0);
    let second = project.run_dir();
    let name = |dir: &camino::Utf8Path| dir.file_name().expect("a name").to_owned();
    let (first, second) = (name(&first), name(&second));

    let list = project.terca(&["list"]).expect_status(0).stdout;
    let rows: Vec<Vec<&str>> = list
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 3, "a title and a line for each run: {list}");
    assert_eq!(
        rows[0],
        [
            "run", "suite", "agents", "started", "status", "trials", "passed", "not", "passed",
            "errors", "size"
        ]
    );
    assert_eq!(
        (rows[1][0], rows[2][0]),
        (first.as_str(), second.as_str()),
        "the newest last: {list}"
    );
    assert_eq!(rows[2][5..10], ["complete", "3", "0", "0", "0"], "{list}");

    for (run, trials) in [
        (None, "3 trials: 3 unverified"),
        (Some(first.as_str()), "1 trial: 1 unverified"),
        (Some("001"), "1 trial: 1 unverified"),
        (Some(second.as_str()), "3 trials: 3 unverified"),
        (Some("002"), "3 trials: 3 unverified"),
    ] {
        let args: Vec<&str> = std::iter::once("show").chain(run).collect();
        let outcome = project.terca(&args).expect_status(0);
        assert!(
            outcome.stdout.contains(trials),
            "{run:?}: {}",
            outcome.stdout
        );
    }
    let unknown = project.terca(&["show", "2001-01-01-001"]).expect_status(2);
    assert!(
        unknown.stderr.contains("no run `2001-01-01-001`"),
        "{}",
        unknown.stderr
    );
    assert!(
        unknown.stderr.contains(&first) && unknown.stderr.contains(&second),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_run_is_shown_as_it_was_at_its_end() {
    let project = small().file(
        "fib/eval.terca.yaml", "prompt: go\ntests: [{fileExists: a}]\n",
    );
    let ran = project.terca(&[]).expect_status(1);
    let shown = project.terca(&["show"]).expect_status(0);
    assert_eq!(shown.stdout, ran.stdout);
}

#[test]
fn a_run_that_cannot_be_read_is_listed_all_the_same() {
    let project = small();
    project.terca(&[]).expect_status(0);
    let project = project.file(".terca/runs/2001-01-01-001/events.jsonl", "not JSON\n");
    let list = project.terca(&["list"]).expect_status(0).stdout;
    let lines: Vec<&str> = list.lines().collect();
    assert!(
        lines[1].starts_with("2001-01-01-001") && lines[1].contains("unreadable"),
        "{list}"
    );
    assert!(lines[2].contains("complete"), "{list}");
    project.terca(&["show", "2001-01-01-001"]).expect_status(3);
}

#[test]
fn a_run_is_shown_by_its_number_without_zeros() {
    let project = project().agent("true").file(
        "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
    );
    project.terca(&[]).expect_status(0);
    project.terca(&["show", "1"]).expect_status(0);
}
