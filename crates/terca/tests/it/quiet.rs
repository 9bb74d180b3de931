//! `--quiet`: the verdict, failures and errors, and nothing else.

use crate::common::project;
use terca_testkit::Project;

fn good_and_bad() -> Project {
    project().agent("touch done; exit 0").file(
        "good/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: done}]\n",
    )
}

#[test]
fn a_run_that_passes_is_one_line() {
    let project = good_and_bad();
    for args in [&["-q"][..], &["run", "--quiet"]] {
        let outcome = project.terca(args).expect_status(0);
        assert_eq!(outcome.stdout, "1 of 1 judged trial passed\n", "{args:?}");
        assert!(!outcome.stderr.contains("good"), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("note:"), "{}", outcome.stderr);
    }
    // The evals of a validation that are sound have nothing to say.
    let sound = project.file("good/_solution/done", "");
    let proven = sound.terca(&["validate", "-q"]).expect_status(0);
    assert_eq!(proven.stdout, "");
}

#[test]
fn runs_that_go_on_are_quiet_too() {
    let project = good_and_bad();
    project.terca(&["-q"]).expect_status(0);
    let resumed = project.terca(&["resume", "-q"]).expect_status(0);
    assert_eq!(resumed.stdout, "");
    let graded = project.terca(&["regrade", "-q"]).expect_status(0);
    assert_eq!(graded.stdout, "1 of 1 judged trial passed\n");
}

#[test]
fn failures_are_told() {
    let project = good_and_bad().file(
        "bad/eval.terca.yaml",
        "prompt: go\ntests: [{name: other, fileExists: nowhere.txt}]\n",
    );
    let outcome = project.terca(&["-q"]).expect_status(1);
    assert!(
        outcome.stdout.contains("other: nowhere.txt does not exist")
            && outcome.stdout.ends_with("1 of 2 judged trials passed\n"),
        "{}",
        outcome.stdout
    );
    assert!(!outcome.stdout.contains("pass rate"), "{}", outcome.stdout);
    let proofs = project.terca(&["validate", "-q", "bad"]).expect_status(1);
    assert!(proofs.stdout.contains("bad"), "{}", proofs.stdout);
    assert!(!proofs.stdout.contains("results:"), "{}", proofs.stdout);
}

#[test]
fn verdicts_are_told() {
    let project = good_and_bad().file(
        "terca.yaml",
        "environments: [{name: default, agent: {name: command, command: 'touch done'}}]\n\
         experiments: [{name: plain}, {name: other, env: {X: '1'}}]\n",
    );
    let outcome = project.terca(&["-q"]).expect_status(0);
    assert!(
        outcome.stdout.contains("INCONCLUSIVE") && !outcome.stdout.contains("mean time"),
        "{}",
        outcome.stdout
    );
}

/// Events are for programs, which leave out what they do not need.
#[test]
fn events_stay() {
    let outcome = good_and_bad()
        .terca(&["-q", "--format", "json"])
        .expect_status(0);
    assert!(
        outcome.stdout.contains("\"trialFinished\""),
        "{}",
        outcome.stdout
    );
}
