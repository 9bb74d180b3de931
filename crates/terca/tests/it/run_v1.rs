//! A run of the first version of `run.json` stays readable: it is shown, reported, compared, resumed, graded and merged.

use crate::common::project;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use terca_report::html::unpacked;
use terca_testkit::Project;

fn fixture() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/run-v1")
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in from.read_dir_utf8().unwrap().map(Result::unwrap) {
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), &place).unwrap();
        }
    }
}

/// The suite with the runs that were made of it.
fn suite() -> Project {
    let project = project();
    copy(&fixture().join("suite"), &project.dir());
    copy(&fixture().join("runs"), &project.dir().join(".terca/runs"));
    project
}

fn run_json(project: &Project, run: &str) -> Utf8PathBuf {
    project.dir().join(".terca/runs").join(run).join("run.json")
}

fn read_json(path: &Utf8Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn it_is_listed_shown_and_reported() {
    let project = suite();
    let list = project.terca(&["list"]).expect_status(0).stdout;
    for run in 1..=4 {
        assert!(list.contains(&format!("2026-11-15-00{run}")), "{list}");
    }
    assert_eq!(list.matches("complete").count(), 3, "{list}");
    let shown = project.terca(&["show", "1"]).expect_status(0).stdout;
    assert!(shown.contains("8 trials: 6 passed, 2 failed"), "{shown}");
    // The prompts of the page are from run.json.
    let page = project
        .terca(&["report", "1", "--html", "-"])
        .expect_status(0)
        .stdout;
    assert!(unpacked(&page).contains("Write a greeting into greeting.txt."));
    // So are the fingerprints that two runs are compared by.
    let compared = project.terca(&["compare", "1", "2", "--format", "json"]);
    let compared: Value = serde_json::from_str(&compared.expect_status(0).stdout).unwrap();
    assert_eq!(
        compared["matching"]["changes"]["evals"],
        json!({}),
        "{compared}"
    );
}

#[test]
fn it_is_resumed_with_its_settings() {
    let project = suite();
    // Fingerprints are hashes of how this version sees the suite; a later one may see it in another way.
    let outcome = project.terca(&["resume", "4", "--accept-changes", "--format", "plain"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("resuming 2026-11-15-004: 2 done, 2 to run"),
        "{}",
        outcome.stderr
    );
    // `-t greet` and the budget were asked for when it was started.
    assert!(
        outcome.stdout.contains("4 trials: 4 passed"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("`--budget-usd` did not count"),
        "{}",
        outcome.stderr
    );
    let results = read_json(&run_json(&project, "2026-11-15-004").with_file_name("results.json"));
    assert_eq!(
        (&results["seed"], &results["status"]),
        (&json!(9), &json!("complete"))
    );
    // Resuming writes nothing into run.json.
    assert_eq!(
        read_json(&run_json(&project, "2026-11-15-004")),
        read_json(&fixture().join("runs/2026-11-15-004/run.json"))
    );
    project.assert_nothing_left();
}

#[test]
fn it_is_graded_again() {
    let project = suite();
    let outcome = project.terca(&["regrade", "2", "-t", "better"]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let results = read_json(&run_json(&project, "2026-11-15-002").with_file_name("results.json"));
    assert_eq!(results["trials"].as_array().unwrap().len(), 4);
    // `--keep failed` left out the workspaces of the others.
    let outcome = project.terca(&["regrade", "1", "--fail-under", "0.7"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("note: 6 of the trials have no saved workspace"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn its_parts_are_merged() {
    let project = suite();
    let outcome = project.terca(&["merge", "2", "3", "--fail-under", "0.7"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("8 trials: 6 passed, 2 failed"),
        "{}",
        outcome.stdout
    );
    let merged = read_json(&project.run_dir().join("run.json"));
    assert_eq!(
        merged["mergedFrom"],
        json!(["2026-11-15-002", "2026-11-15-003"])
    );
    assert_eq!(merged["command"]["shard"], Value::Null);
    assert_eq!(merged["order"].as_array().unwrap().len(), 8);
    assert!(
        project
            .run_dir()
            .join("greet/shell.plain.02/run.log")
            .is_file()
    );
    // What was merged can be resumed, and merged no further. Results that a crash left behind are written again.
    let results = project.run_dir().join("results.json");
    let whole = read_json(&results);
    std::fs::write(&results, r#"{"status": "running"}"#).unwrap();
    let outcome = project.terca(&["resume", "--format", "plain"]);
    assert!(
        outcome.stderr.contains("nothing is left to run"),
        "{}",
        outcome.stderr
    );
    assert_eq!(read_json(&results), whole);
    let name = project.run_dir().file_name().unwrap().to_owned();
    let outcome = project.terca(&["merge", &name, "2"]);
    assert!(
        outcome.stderr.contains("it was not run with --shard"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_newer_version_is_refused_with_the_version_of_its_terca() {
    let project = suite();
    let path = run_json(&project, "2026-11-15-004");
    let mut newer = read_json(&path);
    newer["schemaVersion"] = json!(2);
    newer["tercaVersion"] = json!("9.8.7");
    newer["command"] = json!("in another shape");
    std::fs::write(&path, newer.to_string()).unwrap();
    for args in [&["resume", "4"][..], &["regrade", "4"]] {
        let outcome = project.terca(args);
        assert_eq!(outcome.status, 3, "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains(
                "run.json is not the plan of a run: it was written by Terca 9.8.7 in version 2 of the format"
            ),
            "{}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains("help: use that version of Terca"),
            "{}",
            outcome.stderr
        );
    }
    // Its journal is enough to show it.
    project.terca(&["show", "4"]).expect_status(0);
}

/// Nothing of a `run.json` from elsewhere makes Terca panic, hang or write outside of the run's folder.
#[test]
fn a_hostile_one_is_refused_with_its_place() {
    let project = suite();
    let path = run_json(&project, "2026-11-15-004");
    let good = read_json(&path);
    let mut cases: Vec<(String, &str)> = vec![
        (
            String::new(),
            "EOF while parsing a value at line 1 column 0",
        ),
        ("{".into(), "EOF while parsing an object at line 1 column 1"),
        ("[]".into(), "at line 1 column"),
        (
            "{}".into(),
            "missing field `schemaVersion` at line 1 column 2",
        ),
        (r#"{"schemaVersion": 1}"#.into(), "missing field"),
        ("[".repeat(200_000), "at line 1 column"),
        (
            "\u{0}\u{7f}\u{fffd}".into(),
            "expected value at line 1 column 1",
        ),
    ];
    for (pointer, value) in [
        ("/command/selection/timeout", json!(1e300)),
        ("/command/selection/timeout", json!(-5)),
        ("/command/selection/repetitions", json!(4_294_967_295_u32)),
        ("/command/selection/repetitions", json!(0)),
        ("/command/concurrency", json!(0)),
        ("/command/retries", json!(-1)),
        ("/command/shard", json!("7/3")),
        ("/command/budgetUsd", json!("much")),
        ("/command/keep", json!({})),
        ("/command", json!(null)),
        ("/seed", json!("seven")),
        ("/trials", json!({"0": {}})),
        ("/fingerprints/0/fingerprint", json!([1])),
    ] {
        let mut changed = good.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        cases.push((changed.to_string(), " at line 1 column "));
    }
    for (text, reason) in cases {
        std::fs::write(&path, &text).unwrap();
        let shown: String = text.chars().take(40).collect();
        let outcome = project.terca(&["resume", "4"]);
        assert_eq!(outcome.status, 3, "{shown}: {}", outcome.stderr);
        assert!(
            outcome.stderr.starts_with("error[damaged-run]") && outcome.stderr.contains(reason),
            "{shown}: {}",
            outcome.stderr
        );
        project.terca(&["show", "4"]).expect_status(0);
    }
    // Larger than any plan: not even read. The file has a hole for its content.
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(1 << 41).unwrap();
    let outcome = project.terca(&["resume", "4"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("run.json is larger than 1073741824 bytes"),
        "{}",
        outcome.stderr
    );
    project.assert_nothing_left();
}

#[test]
fn a_trial_that_leads_out_of_its_run_is_refused() {
    let project = suite().file("outside/x01/secret.txt", "secret");
    for part in ["2", "3"] {
        let dir = project.path(&format!("parts/{part}"));
        copy(&fixture().join(format!("runs/2026-11-15-00{part}")), &dir);
        for file in ["run.json", "events.jsonl"] {
            let text = std::fs::read_to_string(dir.join(file)).unwrap();
            let text = text.replace("greet/shell.plain.", "../../outside/x");
            std::fs::write(dir.join(file), text).unwrap();
        }
    }
    let outcome = project.terca(&["merge", "parts/2", "parts/3", "--fail-under", "0"]);
    let outcome = outcome.expect_status(3);
    assert!(
        outcome.stderr.contains(
            "parts/2/events.jsonl, line 1: trial 1 has the directory `../../outside/x01`"
        ),
        "{}",
        outcome.stderr
    );
    // Where the path would lead from the new run.
    assert!(!project.path(".terca/outside").exists());
    assert!(project.run_dir().join("greet/shell.better.01").is_dir());
}

/// An interrupted `terca validate` is resumed as what it was: with the agents that prove evals.
#[test]
fn a_validation_is_resumed_as_one() {
    let project = suite();
    project.terca(&["validate", "-t", "better", "--format", "plain"]);
    let run = project.run_dir();
    let recorded = read_json(&run.join("run.json"));
    assert_eq!(recorded["command"]["validate"], json!(true));
    // As if it had been killed before its last trial ended.
    let journal = std::fs::read_to_string(run.join("events.jsonl")).unwrap();
    let cut = journal.rfind(r#""event":"trialFinished""#).unwrap();
    std::fs::write(run.join("events.jsonl"), &journal[..cut]).unwrap();
    std::fs::remove_file(run.join("results.json")).unwrap();
    // It is not the latest run unless it is named.
    let name = run.file_name().unwrap();
    let outcome = project.terca(&["resume", name, "--format", "plain"]);
    assert!(
        !outcome.stderr.contains("suite has changed"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("1 to run"), "{}", outcome.stderr);
    let results = project.results();
    let agents: Vec<&str> = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| trial["agent"].as_str().unwrap())
        .collect();
    assert!(
        agents
            .iter()
            .all(|agent| ["oracle", "nop", "cheat"].contains(agent)),
        "{agents:?}"
    );
    assert_eq!(results["status"], "complete");
}
