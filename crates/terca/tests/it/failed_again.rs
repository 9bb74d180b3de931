//! `--failed`: what failed in the latest run, and nothing else.

use crate::common::project;
use serde_json::Value;
use terca_testkit::Project;

/// `good` passes; `bad` passes with `rules` alone; the agent of `broken` crashes.
fn mixed() -> Project {
    project()
        .executable(
            "agent.sh",
            "#!/bin/sh\ncase \"$(cat)\" in\n  bad) [ -n \"$RULES\" ] && touch done ;;\n  broken) exit 7 ;;\n  \
             *) touch done ;;\nesac\nexit 0\n",
        )
        .file(
            "terca.yaml",
            "environments: [{name: script, agent: {name: command, command: ./agent.sh}}]\n\
             experiments: [{name: plain}, {name: rules, env: {RULES: '1'}}]\n\
             evals:\n  - {name: good, prompt: good, tests: [{fileExists: done}]}\n  \
             - {name: bad, prompt: bad, tests: [{fileExists: done}]}\n  \
             - {name: broken, prompt: broken, tests: [{fileExists: done}]}\n",
        )
}

fn trials(project: &Project) -> Vec<String> {
    let results = project.results();
    let trials: Vec<Value> = results["trials"].as_array().unwrap().clone();
    let mut names: Vec<String> = trials
        .iter()
        .map(|trial| {
            let name = |key: &str| trial[key].as_str().unwrap().to_owned();
            format!("{} {}", name("eval"), name("experiment"))
        })
        .collect();
    names.sort();
    names
}

#[test]
fn only_what_failed_runs_again() {
    let project = mixed();
    project.terca(&["--format", "plain"]);
    let first = project.run_dir().file_name().unwrap().to_owned();
    let failed = ["bad plain", "broken plain", "broken rules"];
    let again = project.terca(&["run", "--failed", "--format", "plain"]);
    assert!(
        again
            .stderr
            .contains(&format!("running the failures of {first}")),
        "{}",
        again.stderr
    );
    assert_eq!(trials(&project), failed);
    assert_eq!(project.results()["failedIn"], first);
    // Trials that were chosen by their results say nothing about experiments.
    assert!(
        again.stdout.contains("no verdict: only earlier failures"),
        "{}",
        again.stdout
    );
    assert_eq!(project.results()["summary"]["noVerdict"], "onlyFailed");
    // A selection makes it less, and a later run goes by the one before it.
    project.terca(&["--failed", "-t", "bad", "-n", "2"]);
    assert_eq!(trials(&project), ["bad plain", "bad plain"]);
    let nothing = project.terca(&["--failed", "-t", "good"]).expect_status(2);
    assert!(
        nothing.stderr.contains("the selection has no failure of")
            && nothing.stderr.contains("`bad` in script.plain"),
        "{}",
        nothing.stderr
    );
}

#[test]
fn an_interrupted_one_is_resumed_as_it_was() {
    let project = mixed();
    project.terca(&["--format", "plain"]);
    project.terca(&["--failed", "--fail-fast", "-c", "1", "--format", "plain"]);
    project.terca(&["resume", "--format", "plain"]);
    assert_eq!(
        trials(&project),
        ["bad plain", "broken plain", "broken rules"]
    );
}

#[test]
fn nothing_failed_is_no_error() {
    let project = mixed();
    project.terca(&["-t", "good"]).expect_status(0);
    let run = project.run_dir().file_name().unwrap().to_owned();
    let outcome = project.terca(&["run", "--failed"]).expect_status(0);
    assert_eq!(
        outcome.stderr,
        format!("nothing failed in {run}: there is nothing to run again\n")
    );
    let none = project.terca(&["-C", "..", "--failed"]);
    assert_ne!(none.status, 0, "{}", none.stderr);
}
