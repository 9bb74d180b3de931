//! `terca plan`: what a run would take and could show, from what earlier runs took and showed.

use crate::counted::{assert_told, eval, run, suite};
use serde_json::Value;
use terca_testkit::Project;

const PASSES: [(u32, u32); 8] = [
    (3, 5),
    (2, 4),
    (4, 5),
    (3, 3),
    (2, 5),
    (3, 4),
    (5, 5),
    (1, 3),
];

fn json(project: &Project, args: &[&str]) -> Value {
    let outcome = project
        .terca(&[&["plan", "--format", "json"], args].concat())
        .expect_status(0);
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn before_anything_has_run_assumptions_are_said() {
    let project = suite(&PASSES);
    let outcome = project
        .terca(&["plan", "-c", "4", "--detect", "10"])
        .expect_status(0);
    assert_told!("plan_assumed", outcome.stdout);
    assert!(!project.has_run(), "nothing was run");
    let plan = json(&project, &["-n", "10", "-t", "eval[0-5]"]);
    assert_eq!(
        (&plan["trials"], &plan["version"]),
        (&120.into(), &2.into())
    );
    assert_eq!(plan["arms"][0]["trials"], 60);
    assert_eq!(plan["expense"]["costUsd"], Value::Null);
    assert_eq!(
        plan["precision"][0]["variances"]["assumed"],
        serde_json::json!(["luck", "between"])
    );
    assert_eq!(plan["detect"], Value::Null);
}

#[test]
fn earlier_runs_say_what_it_will_take() {
    let project = run(suite(&PASSES), 1, 0, &[]);
    let outcome = project
        .terca(&["plan", "-n", "10", "-c", "4"])
        .expect_status(0);
    assert_told!("plan_known", outcome.stdout);
    assert!(
        outcome
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 80),
        "{}",
        outcome.stdout
    );
    let outcome = project.terca(&["plan", "--detect", "10"]).expect_status(0);
    let words = outcome
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        words.contains(
            "Detecting 10 points on these evals needs 8 evals × 36 repetitions (576 trials, about $18.49"
        ),
        "{words}"
    );
    let plan = json(&project, &["-n", "10", "--detect", "10"]);
    // 80 trials of each arm, at 3.42 and at 3 cents.
    let cents = |value: &Value| (value.as_f64().unwrap() * 100.0).round();
    assert_eq!(cents(&plan["expense"]["costUsd"]), 514.0);
    assert_eq!(
        (&plan["history"]["runs"], &plan["history"]["trials"]),
        (&1.into(), &80.into())
    );
    assert_eq!(
        plan["precision"][0]["variances"]["assumed"],
        serde_json::json!(["between"])
    );
    let these = &plan["detect"]["withTheseEvals"];
    assert!(
        these["repetitions"].as_u64().unwrap() > 10 && these["evals"].as_u64().unwrap() <= 8,
        "{these}"
    );
    let ratio = these["costUsd"].as_f64().unwrap() / these["trials"].as_f64().unwrap();
    assert!((ratio - 0.0321).abs() < 1e-6, "{ratio}");
    // What has changed since, or never ran, says nothing.
    let project = eval(project, "eval9", 1, 1);
    let project = project.file(
        "eval0/eval.terca.yaml",
        "prompt: another question\ntests: [{fileExists: done}]\n",
    );
    assert_eq!(json(&project, &[])["history"]["trials"], 70);
    assert_eq!(
        json(&project, &["--agent", "oracle"])["history"]["trials"],
        0,
        "another agent"
    );
}

#[test]
fn one_arm_or_too_few_trials() {
    let project = suite(&PASSES[..2]);
    let plan = json(&project, &["-x", "control", "-n", "1", "--detect", "20"]);
    assert_eq!(plan["precision"][0]["baseline"], Value::Null);
    assert_eq!(plan["precision"][0]["cannotTell"], "tooFewTrials");
    assert_eq!(plan["precision"][0]["beyond"], Value::Null);
    assert!(plan["detect"]["withTheseEvals"]["repetitions"].as_u64() > Some(1));
    let args = ["plan", "-x", "control", "-n", "1"];
    let outcome = project.terca(&args).expect_status(0);
    assert!(
        outcome
            .stdout
            .contains("none: there are too few trials to show even"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn wrong_usage() {
    let project = suite(&PASSES[..1]);
    for args in [
        &["plan", "--detect", "0"][..],
        &["plan", "--detect", "x"],
        &["plan", "-t", "nothing"],
    ] {
        let outcome = project.terca(args).expect_status(2);
        assert!(
            outcome.stdout.is_empty() && !outcome.stderr.is_empty(),
            "{args:?}"
        );
    }
}
