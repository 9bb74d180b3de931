//! `terca health`: what the evals of a suite tell, from what its runs have shown.

use crate::common::project;
use crate::counted::{assert_told, eval, run, suite};
use serde_json::Value;
use terca_testkit::Project;

/// Always passes; never does; clear cases, three; now and then; and one that passes where the others fail.
const PASSES: [(u32, u32); 7] = [(5, 5), (0, 0), (0, 5), (0, 5), (0, 5), (2, 3), (5, 0)];

fn json(project: &Project, args: &[&str]) -> Value {
    let outcome = project
        .terca(&[&["health", "--format", "json"], args].concat())
        .expect_status(0);
    serde_json::from_str(&outcome.stdout).unwrap()
}

fn of<'a>(health: &'a Value, eval: &str) -> &'a Value {
    health["evals"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["eval"] == eval)
        .unwrap()
}

#[test]
fn every_eval_is_told_what_it_is_worth() {
    let project = run(suite(&PASSES), 1, 0, &[]);
    let outcome = project.terca(&["health"]).expect_status(0);
    assert_told!("health", outcome.stdout);
    assert!(
        outcome
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 80),
        "{}",
        outcome.stdout
    );
    let health = json(&project, &["1"]);
    let marks = |eval| of(&health, eval)["marks"].clone();
    assert_eq!(marks("eval0"), serde_json::json!(["alwaysPasses"]));
    assert_eq!(marks("eval1"), serde_json::json!(["neverPasses"]));
    assert_eq!(marks("eval2"), serde_json::json!(["tellsMost"]));
    assert_eq!(marks("eval5"), serde_json::json!(["tellsMost"]));
    assert_eq!(
        marks("eval6"),
        serde_json::json!(["tellsMost", "contradicts"])
    );
    assert_eq!(
        health["droppable"]["evals"],
        serde_json::json!(["eval0", "eval1"])
    );
    // Dropped, they are missed by no p-value.
    let p =
        |project: &Project| project.results()["summary"]["comparisons"][0]["passRate"]["p"].clone();
    let before = p(&project);
    let project = run(project, 2, 0, &["-t", "eval[2-6]"]);
    assert_eq!(p(&project), before);
}

#[test]
fn runs_add_up_and_changed_evals_start_anew() {
    let project = run(suite(&PASSES[..2]), 1, 0, &[]);
    let project = run(project, 2, 0, &["-n", "2"]);
    assert_eq!(of(&json(&project, &[]), "eval0")["judged"], 14);
    assert_eq!(of(&json(&project, &["2"]), "eval0")["judged"], 4);
    assert_eq!(
        of(&json(&project, &["2", "1", "1"]), "eval0")["judged"],
        14,
        "each counts once"
    );
    let project = eval(project, "eval0", 5, 4);
    let project = run(project, 3, 0, &["-n", "2"]);
    let health = json(&project, &[]);
    assert_eq!(
        (
            &of(&health, "eval0")["judged"],
            &of(&health, "eval0")["changedRuns"]
        ),
        (&4.into(), &2.into())
    );
    assert_eq!(of(&health, "eval1")["judged"], 18);
    let outcome = project.terca(&["health"]).expect_status(0);
    assert!(
        outcome
            .stdout
            .contains("`eval0` changed: only the trials since then are counted."),
        "{}",
        outcome.stdout
    );
}

#[test]
fn without_trials_there_is_nothing_to_say() {
    let project = suite(&PASSES[..1]);
    let outcome = project.terca(&["health"]).expect_status(2);
    assert!(
        outcome.stderr.contains("no trials to learn from"),
        "{}",
        outcome.stderr
    );
    project
        .terca(&["--agent", "nop", "--fail-under", "0"])
        .expect_status(0);
    project.terca(&["health"]).expect_status(2);
    project.terca(&["health", "no-such-run"]).expect_status(2);
    project
        .terca(&["-n", "1", "--fail-under", "0"])
        .expect_status(0);
    let health = json(&project, &[]);
    assert_eq!(
        of(&health, "eval0")["marks"],
        serde_json::json!(["tooFewTrials"])
    );
    assert_eq!(of(&health, "eval0")["withRest"], Value::Null);
}

/// The tests of both evals look at a file outside: that is not the agent's doing.
#[test]
fn an_eval_is_flaky_when_the_same_work_gets_another_grade() {
    let tests =
        |command: &str| format!("prompt: x\ntests: [{{name: t, commandSuccess: {command}}}]\n");
    let project = project().file(
        "terca.yaml",
        "repetitions: 3\nenvironments: [{name: e, agent: {name: command, command: 'true'}}]\n",
    );
    // A file of the suite that a test names is a part of the test.
    let outside = project.home().join("mood");
    let project = project
        .file(
            "moody/eval.terca.yaml",
            tests(&format!("test -e {outside}")),
        )
        .file(
            "edited/eval.terca.yaml",
            tests(&format!("test -e {outside}/no")),
        )
        .file("steady/eval.terca.yaml", tests("'true'"));
    project
        .terca(&["run", "--fail-under", "0"])
        .expect_status(0);
    let marks = |eval: &str| of(&json(&project, &[]), eval)["marks"].clone();
    assert_eq!(marks("moody"), serde_json::json!(["neverPasses"]));
    std::fs::write(&outside, "").unwrap();
    std::fs::write(project.path("edited/eval.terca.yaml"), tests("'true'")).unwrap();
    project
        .terca(&["regrade", "--fail-under", "0"])
        .expect_status(0);
    assert_eq!(marks("moody"), serde_json::json!(["alwaysPasses", "flaky"]));
    assert_eq!(marks("edited"), serde_json::json!(["alwaysPasses"]));
    assert_eq!(marks("steady"), serde_json::json!(["alwaysPasses"]));
    let found = json(&project, &[]);
    let counts =
        |eval: &str| ["gradedAgain", "gradeChanged"].map(|key| of(&found, eval)[key].clone());
    assert_eq!(counts("moody"), [3, 3]);
    assert_eq!(counts("edited"), [0, 0]);
    assert_eq!(counts("steady"), [3, 0]);
    let outcome = project.terca(&["health"]).expect_status(0);
    assert!(
        outcome
            .stdout
            .contains("`moody` is flaky: its tests graded the same work"),
        "{}",
        outcome.stdout
    );
}
