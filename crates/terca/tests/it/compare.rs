//! `terca compare`: what it finds, what it says, and what CI can make of its exit status.

use crate::common::project;
use crate::counted::{assert_told, eval, run, suite};
use serde_json::Value;
use terca_testkit::Project;

/// The rules help: 34 of 40 against 23 of 40.
const HELPS: [(u32, u32); 8] = [
    (3, 5),
    (2, 4),
    (4, 5),
    (3, 3),
    (2, 5),
    (3, 4),
    (5, 5),
    (1, 3),
];

fn json(project: &Project, args: &[&str], status: i32) -> Value {
    let outcome = project
        .terca(&[&["compare", "--format", "json"], args].concat())
        .expect_status(status);
    serde_json::from_str(&outcome.stdout).unwrap()
}

fn told(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_experiments_of_a_run() {
    let project = run(suite(&HELPS), 1, 0, &[]);
    let outcome = project.terca(&["compare"]).expect_status(0);
    assert_told!("compare_experiments", outcome.stdout);
    assert!(
        outcome
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 80),
        "{}",
        outcome.stdout
    );
    // The same comparison as at the end of the run.
    let found = json(&project, &["1", "--require-conclusive"], 0);
    assert_eq!(
        found["comparisons"],
        project.results()["summary"]["comparisons"]
    );
    assert_eq!(
        (&found["by"], &found["version"], &found["matching"]),
        (&"experiment".into(), &3.into(), &Value::Null)
    );
    // The other way round it is a regression.
    let outcome = project
        .terca(&["compare", "--baseline", "with-rules"])
        .expect_status(1);
    assert!(
        told(&outcome.stdout)
            .contains("WORSE on these 8 evals (script): 58 % of trials passed with `control`, 85 % with `with-rules`")
    );
    // As wide a margin as can be: the difference is found all the same.
    assert_eq!(json(&project, &["--margin", "60"], 0)["margin"], 0.6);
}

#[test]
fn environments_of_a_run_and_what_is_inconclusive() {
    let project = project()
        .executable(
            "agent.sh",
            "#!/bin/sh\nif [ $ARM = good ] || [ $(($(wc -c) % 2)) = 0 ]; then touch done; fi\n",
        )
        .file(
            "terca.yaml",
            "environments:\n\
             \x20 - {name: good, env: {ARM: good}, agent: {name: command, command: ./agent.sh}}\n\
             \x20 - {name: bad, env: {ARM: bad}, agent: {name: command, command: ./agent.sh}}\n\
             evals:\n\
             \x20 - {name: a, prompt: x, tests: [{fileExists: done}]}\n\
             \x20 - {name: b, prompt: xx, tests: [{fileExists: done}]}\n",
        );
    project.terca(&["--fail-under", "0"]).expect_status(0);
    let refused = project.terca(&["compare"]).expect_status(2);
    assert!(
        refused
            .stderr
            .contains("has one experiment only, `default`"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("--by environment"),
        "{}",
        refused.stderr
    );
    let outcome = project
        .terca(&["compare", "--by", "environment"])
        .expect_status(0);
    assert!(
        outcome.stdout.contains("environments against good"),
        "{}",
        outcome.stdout
    );
    let sentence = told(&outcome.stdout);
    assert!(
        sentence.contains(
            "INCONCLUSIVE on these 2 evals: 50 % of trials passed with `bad`, 100 % with `good`"
        ),
        "{sentence}"
    );
    assert!(
        sentence.contains("There are too few trials to show even the largest difference"),
        "{sentence}"
    );
    project
        .terca(&["compare", "--by", "environment", "--require-conclusive"])
        .expect_status(3);
    let found = json(&project, &["--by", "environment", "--baseline", "bad"], 0);
    assert_eq!(
        (&found["by"], &found["baseline"]),
        (&"environment".into(), &"bad".into())
    );
    assert_eq!(found["comparisons"][0]["passRate"]["value"], 0.5);
}

#[test]
fn a_regression_between_two_runs() {
    let mut passes = HELPS;
    passes[7] = (1, 1);
    let project = run(suite(&passes), 1, 0, &[]);
    // An eval goes, another comes, a third changes; and the agent got worse.
    let project = eval(project, "eval8", 3, 3);
    let project = eval(project, "eval1", 2, 4);
    std::fs::remove_dir_all(project.path("eval0")).unwrap();
    let project = project.file(
        "eval1/eval.terca.yaml",
        "prompt: eval1 2 4\ntests: [{name: new, fileExists: done}]\n",
    );
    let project = run(project, 2, -2, &[]);
    let outcome = project.terca(&["compare", "1", "2"]).expect_status(1);
    assert_told!("compare_runs", outcome.stdout);
    assert!(
        outcome
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 80),
        "{}",
        outcome.stdout
    );
    let outcome = project
        .terca(&["compare", "1", "2", "--format", "markdown"])
        .expect_status(1);
    assert!(outcome.stdout.starts_with("### "), "{}", outcome.stdout);
    assert!(
        outcome
            .stdout
            .contains("- changed: the tests of <code>eval1</code>\n"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains(": the eval <code>eval0</code>\n"),
        "{}",
        outcome.stdout
    );
    let rows = outcome.stdout.lines().filter(|line| line.starts_with('|'));
    let cells: Vec<usize> = rows.map(|row| row.matches('|').count()).collect();
    assert_eq!(cells, [12; 5], "title, rule, over both variants, and each");
    let found = json(&project, &["1", "2"], 1);
    let matching = &found["matching"];
    assert_eq!(
        matching["onlyInBaseline"]["evals"],
        serde_json::json!(["eval0"])
    );
    assert_eq!(
        matching["onlyInOther"]["evals"],
        serde_json::json!(["eval8"])
    );
    assert_eq!(
        matching["changes"]["evals"],
        serde_json::json!({"eval1": ["tests"]})
    );
    assert_eq!(
        (&found["by"], matching["evals"].as_array().unwrap().len()),
        (&"run".into(), 7)
    );
    assert_eq!(
        json(&project, &["1", "2", "--only-unchanged"], 1)["matching"]["evals"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    // The second as the baseline: what was a regression is progress.
    let found = json(&project, &["1", "2", "--baseline", "2"], 0);
    assert_eq!(found["comparisons"][0]["verdict"], "better");
}

#[test]
fn runs_of_other_places_by_path_and_errors_apart() {
    let (one, two) = (
        run(suite(&HELPS[..2]), 1, 0, &[]),
        run(suite(&HELPS[..2]), 1, 0, &["-n", "2"]),
    );
    // An agent that crashes before it has done anything: errors are no failures.
    let two = two.executable("agent.sh", "#!/bin/sh\nexit 1\n");
    two.terca(&[]).expect_status(3);
    let there = two.run_dir();
    let outcome = one
        .terca(&["compare", "1", there.as_str()])
        .expect_status(0);
    let sentence = told(&outcome.stdout);
    assert!(
        sentence.contains("INCONCLUSIVE") && sentence.contains("no eval was judged on both sides"),
        "{sentence}"
    );
    assert!(
        sentence.contains("errors, counted separately:"),
        "{sentence}"
    );
    let first = two
        .path(".terca/runs")
        .join(one.run_dir().file_name().unwrap());
    let outcome = one
        .terca(&["compare", "1", first.as_str()])
        .expect_status(0);
    assert!(
        told(&outcome.stdout).contains(&format!("{first} against .terca/runs/")),
        "{}",
        outcome.stdout
    );
}

#[test]
fn wrong_usage_says_what_is_right() {
    let project = suite(&HELPS[..1]);
    let refused = |args: &[&str], reason: &str| {
        let outcome = project
            .terca(&[&["compare"], args].concat())
            .expect_status(2);
        assert!(
            outcome.stderr.contains(reason),
            "{args:?}: {}",
            outcome.stderr
        );
        assert_eq!(outcome.stdout, "");
    };
    refused(&[], "no runs yet");
    project
        .terca(&["-n", "1", "--fail-under", "0"])
        .expect_status(0);
    project
        .terca(&["-n", "1", "-x", "control", "--fail-under", "0"])
        .expect_status(0);
    refused(&["7"], "no run `7`; the runs are");
    refused(&["1", "/nowhere/1"], "no run `/nowhere/1`");
    refused(&["1", "1"], "cannot be compared with itself");
    refused(&["1", "--baseline", "contrl"], "did you mean `control`?");
    refused(&["1", "2", "--baseline", "3"], "--baseline 3: the runs are");
    refused(&["1", "2", "--by", "environment"], "is for one run");
    refused(&["1", "--only-unchanged"], "is for two runs");
    refused(&["2"], "has one experiment only");
    for margin in ["0", "-1", "100", "101", "NaN", "x"] {
        refused(&["1", "--margin", margin], "");
    }
    refused(&["1", "--format", "csv"], "table, json, markdown");
    // Nobody named a baseline: it is the first.
    let yaml = project
        .read("terca.yaml")
        .replace("baseline: true", "baseline: false");
    let project = project.file("terca.yaml", yaml);
    project
        .terca(&["-n", "1", "--fail-under", "0"])
        .expect_status(0);
    assert_eq!(json(&project, &["3"], 0)["baseline"], "with-rules");
}
