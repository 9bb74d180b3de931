//! `--format json` of the commands that read: the keys that the reference has, and no others.

use std::collections::BTreeSet;

use crate::common::history::History;
use crate::common::project;
use crate::documentation::documented_keys;
use serde_json::Value;
use terca_testkit::Project;

fn suite() -> Project {
    project()
        .agent("touch done; exit 0")
        .file(
            "a/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: done}]\n",
        )
        .file("a/_solution/done", "")
}

fn answer(project: &Project, args: &[&str]) -> Value {
    let outcome = project.terca(args).expect_status(0);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

fn keys(object: &Value) -> BTreeSet<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

fn are_documented(table: &str, object: &Value) {
    assert_eq!(
        documented_keys("json-answers.md", table),
        keys(object),
        "{table}"
    );
}

#[test]
fn list_tells_runs_apart() {
    let project = suite();
    assert_eq!(
        answer(&project, &["list", "--format", "json"])["runs"],
        Value::Array(vec![])
    );
    project.terca(&["validate", "--format", "plain"]);
    project.terca(&["--format", "plain"]).expect_status(0);
    project.terca(&["--agent", "oracle"]).expect_status(0);
    let listed = answer(&project, &["list", "--format", "json"]);
    are_documented("list", &listed);
    let runs = listed["runs"].as_array().unwrap();
    are_documented("listedRun", &runs[0]);
    let told: Vec<[&str; 2]> = runs
        .iter()
        .map(|run| ["kind", "status"].map(|key| run[key].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ["validate", "complete"],
            ["agents", "complete"],
            ["controls", "complete"]
        ]
    );
    assert_eq!(runs[1]["agents"], serde_json::json!(["command"]));
    assert_eq!(
        (&runs[1]["passed"], &runs[1]["trials"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn show_writes_what_results_json_has() {
    let project = suite();
    project.terca(&["--format", "plain"]).expect_status(0);
    let shown = answer(&project, &["show", "--format", "json"]);
    assert_eq!(shown["summary"], project.results()["summary"]);
    assert_eq!(keys(&shown), {
        let mut keys = keys(&project.results());
        keys.remove("journal");
        keys
    });
}

#[test]
fn verify_and_explain() {
    let project = suite();
    project.terca(&["--format", "plain"]).expect_status(0);
    let verified = answer(&project, &["verify", "--format", "json"]);
    are_documented("verified", &verified[0]);
    assert_eq!(verified, answer(&project, &["verify", "--json"]));
    let explained = answer(&project, &["explain", "no-runs", "--format", "json"]);
    are_documented("explained", &explained[0]);
    assert_eq!(explained[0]["code"], "no-runs");
    let all = answer(&project, &["explain", "--format", "json"]);
    assert!(all.as_array().unwrap().len() > 40);
}

/// The last line of the events is the answer.
#[test]
fn validate_ends_with_its_answer() {
    let project = suite().file(
        "b/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: done}]\n",
    );
    let outcome = project
        .terca(&["validate", "--format", "json"])
        .expect_status(1);
    let last = outcome.stdout.lines().last().unwrap();
    let answer: Value = serde_json::from_str(last).unwrap();
    are_documented("validated", &answer);
    are_documented("validatedEval", &answer["evals"][0]);
    assert_eq!(answer["event"], "validated");
    assert_eq!(answer["evals"][0]["sound"], true);
    assert_eq!(
        answer["evals"][1]["flaws"],
        serde_json::json!(["noSolution"])
    );
}

#[test]
fn mine_tells_what_became_of_each_commit() {
    let project = project();
    let mut history = History::new(&project);
    history.commit("Start the whole project", &[("a.sh", "true\n")]);
    let outcome = project
        .terca(&["mine", "repository", "--since", "100y", "--format", "json"])
        .expect_status(1);
    let mined: Value = serde_json::from_str(&outcome.stdout).unwrap();
    are_documented("mined", &mined);
    are_documented("minedCommit", &mined["commits"][0]);
}
