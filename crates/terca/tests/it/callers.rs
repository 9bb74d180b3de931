//! Callers with habits of their own: signals that they ignore, limits that they set.

use crate::common::project;
use terca_testkit::{Outcome, Project};

/// Runs the program from a shell that does something first.
fn after(project: &Project, first: &str) -> Outcome {
    let script = format!("{first}; exec \"$0\" --format plain");
    project
        .other("bash", &["-c", &script, env!("CARGO_BIN_EXE_terca")])
        .output()
        .unwrap()
        .into()
}

#[test]
fn a_caller_that_ignores_the_end_of_its_children_changes_nothing() {
    let project = project()
        .agent("grep SigIgn: /proc/self/status > ignored.txt; (true) & wait; touch done")
        .file(
            "task/eval.terca.yaml",
            "prompt: do it\ntimeoutSeconds: 10\ntests: [{fileExists: done}, {commandSuccess: '(true) & wait'}]\n",
        );
    let ignoring = "trap '' CHLD; grep -q '^SigIgn:.*[13579bdf]....$' /proc/self/status || exit 99";
    after(&project, ignoring).expect_status(0);
    project.assert_nothing_left();
    // Nor does the agent inherit it.
    let ignored = project.trial_file("workspace/ignored.txt");
    let mask = ignored.trim_start_matches("SigIgn:").trim();
    let mask = u64::from_str_radix(mask, 16).unwrap();
    assert_eq!(mask & (1 << 16), 0, "{ignored}");
}

#[test]
fn a_file_beyond_the_callers_limit_is_an_error_with_words() {
    let project = project()
        .agent("true")
        .file("terca.yaml", "repetitions: 40\nenvironments: [{name: default, agent: {name: command, command: 'true'}}]\n")
        .file("task/eval.terca.yaml", "prompt: do it\nallowWarnings: no-tests\n");
    let outcome = after(&project, "ulimit -f 4");
    assert!(
        outcome.stderr.contains("File too large"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.status, 3, "{}{}", outcome.stdout, outcome.stderr);
    project.assert_nothing_left();
}
