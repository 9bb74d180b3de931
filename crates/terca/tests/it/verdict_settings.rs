//! `margin` and `verdict`: where they are written, what is refused, and that a run keeps them.

use crate::common::project;
use serde_json::{Value, json};
use terca_testkit::Project;

/// Two experiments, four trials, and these lines at the top of `terca.yaml`.
fn suite(lines: &str) -> Project {
    project()
        .executable("agent.sh", "#!/bin/sh\ntest $ARM = b && touch done\ntrue\n")
        .file(
            "terca.yaml",
            format!(
                "{lines}repetitions: 2\n\
                 environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n\
                 experiments:\n  - {{name: a, env: {{ARM: a}}}}\n  - {{name: b, env: {{ARM: b}}}}\n\
                 evals: [{{name: task, prompt: x, tests: [{{fileExists: done}}]}}]\n"
            ),
        )
}

fn run(project: &Project, args: &[&str]) {
    let args = [&["run", "--fail-under", "0"], args].concat();
    project.terca(&args).expect_status(0);
}

/// `margin` and `verdict` of the latest run, in its journal and in `run.json`, which agree.
fn recorded(project: &Project) -> [Value; 2] {
    let journal = std::fs::read_to_string(project.run_dir().join("events.jsonl")).unwrap();
    let started: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    assert_eq!(started["event"], "runStarted");
    let file = std::fs::read(project.run_dir().join("run.json")).unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    let of = |document: &Value| ["margin", "verdict"].map(|key| document[key].clone());
    assert_eq!(of(&started), of(&file));
    of(&started)
}

fn margin(project: &Project) -> Value {
    project.results()["summary"]["margin"].clone()
}

fn compared(project: &Project, args: &[&str]) -> Value {
    let outcome = project.terca(&[&["compare", "--format", "json"], args].concat());
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    found["margin"].clone()
}

#[test]
fn defaults_are_not_recorded() {
    let project = suite("");
    run(&project, &[]);
    assert_eq!(recorded(&project), [Value::Null, Value::Null]);
    assert_eq!(margin(&project), json!(0.1));
    // As written, a default is the same as none.
    let project = suite("margin: 10\nverdict: passRate\n");
    run(&project, &[]);
    assert_eq!(recorded(&project), [Value::Null, Value::Null]);
}

#[test]
fn a_run_keeps_the_settings_of_its_suite() {
    let project = suite("margin: 2.5\nverdict: score\n");
    run(&project, &[]);
    let kept = [json!(0.025), json!("score")];
    assert_eq!(recorded(&project), kept);
    assert_eq!(margin(&project), json!(0.025));
    assert_eq!(compared(&project, &[]), json!(0.025));
    assert_eq!(compared(&project, &["--margin", "20"]), json!(0.2));
    let about = &project.results()["summary"]["comparisons"][0];
    assert_eq!(about["measure"], "score");
    let outcome = project.terca(&["compare"]);
    assert!(
        outcome.stdout.contains("margin 2.5 points"),
        "{}",
        outcome.stdout
    );
    // Another suite, the same run.
    let other = project.read("terca.yaml").replace("2.5", "30");
    let project = project.file("terca.yaml", other);
    project.terca(&["regrade"]).expect_status(1);
    assert_eq!(recorded(&project), kept);
    assert_eq!(margin(&project), json!(0.025));
    // Of two runs, the baseline decides.
    run(&project, &[]);
    assert_eq!(compared(&project, &["1", "2"]), json!(0.025));
    assert_eq!(
        compared(&project, &["1", "2", "--baseline", "2"]),
        json!(0.3)
    );
}

#[test]
fn the_command_line_wins_and_a_resumed_run_keeps_it() {
    let project = suite("margin: 2.5\n");
    project
        .terca(&["run", "--margin", "7", "--fail-fast", "-c", "1"])
        .expect_status(1);
    let kept = [json!(0.07), Value::Null];
    assert_eq!(recorded(&project), kept);
    assert_ne!(project.results()["summary"]["pending"], json!(0));
    project.terca(&["resume"]);
    assert_eq!(recorded(&project), kept);
    assert_eq!(margin(&project), json!(0.07));
}

#[test]
fn another_margin_needs_no_new_run() {
    let project = project()
        .executable("agent.sh", "#!/bin/sh\ntouch done\n")
        .file(
            "terca.yaml",
            "environments: [{name: e, agent: {name: command, command: ./agent.sh}}]\nrepetitions: 20\n\
             experiments:\n  - {name: a, env: {ARM: a}}\n  - {name: b, env: {ARM: b}}\n\
             evals: [{name: one, prompt: x, tests: [{fileExists: done}]}, {name: two, prompt: x, tests: [{fileExists: done}]}]\n",
        );
    run(&project, &[]);
    let before = std::fs::read(project.run_dir().join("results.json")).unwrap();
    let shown = |args: &[&str]| {
        let outcome = project.terca(&[&["show"], args].concat()).expect_status(0);
        outcome.stdout
    };
    assert!(
        shown(&["--margin", "90"]).contains("EQUIVALENT"),
        "{}",
        shown(&["--margin", "90"])
    );
    assert!(shown(&["--margin", "0.01"]).contains("INCONCLUSIVE"));
    let reported = |margin: &str| {
        let args = ["report", "--margin", margin, "--markdown", "-"];
        project.terca(&args).expect_status(0).stdout
    };
    assert!(reported("90").contains("EQUIVALENT"), "{}", reported("90"));
    assert!(reported("0.01").contains("INCONCLUSIVE"));
    // Looking changes nothing.
    let after = std::fs::read(project.run_dir().join("results.json")).unwrap();
    assert_eq!(before, after);
}

#[test]
fn parts_of_a_plan_must_agree() {
    let parts = |first: &[&str], second: &[&str]| {
        let project = suite("verdict: score\n");
        run(&project, &[&["--shard", "1/2"], first].concat());
        run(&project, &[&["--shard", "2/2"], second].concat());
        project
    };
    let project = parts(&["--margin", "5"], &["--margin", "2.5"]);
    let outcome = project.terca(&["merge", "1", "2"]).expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("one is compared by `score` with a margin of 5 points, the other by `score` with a margin of 2.5 points"),
        "{}",
        outcome.stderr
    );
    let project = parts(&["--margin", "5"], &["--margin", "5"]);
    project.terca(&["merge", "1", "2"]);
    assert_eq!(recorded(&project), [json!(0.05), json!("score")]);
    assert_eq!(margin(&project), json!(0.05));
}

#[test]
fn anything_else_is_refused() {
    let said = "expected a number above 0 and below 100";
    for (lines, said) in [
        ("margin: 0\n", said),
        ("margin: 100\n", said),
        ("margin: -5\n", said),
        ("margin: '5'\n", "remove the quotes"),
        ("margin: 5 points\n", said),
        ("verdict: passrate\n", "expected `passRate` or `score`"),
        ("verdict: 1\n", "expected `passRate` or `score`"),
    ] {
        let outcome = suite(lines).terca(&["check"]).expect_status(2);
        assert!(
            outcome.stderr.contains(said) && outcome.stderr.contains("terca.yaml:1:"),
            "{lines}: {}",
            outcome.stderr
        );
    }
    for command in ["run", "show", "compare"] {
        let outcome = suite("").terca(&[command, "--margin", "100"]);
        let outcome = outcome.expect_status(2);
        assert!(
            outcome
                .stderr
                .contains("expected points above 0 and below 100"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn a_foreign_margin_is_damage() {
    let project = suite("");
    run(&project, &[]);
    let path = project.run_dir().join("events.jsonl");
    let journal = std::fs::read_to_string(&path).unwrap();
    let changed = journal.replacen("\"baseline\":", "\"margin\":7.5,\"baseline\":", 1);
    assert_ne!(changed, journal);
    std::fs::write(&path, changed).unwrap();
    let outcome = project.terca(&["compare"]).expect_status(3);
    assert!(
        outcome.stderr.contains("events.jsonl"),
        "{}",
        outcome.stderr
    );
}
