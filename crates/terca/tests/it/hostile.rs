//! Agents that misbehave are survived, with the right outcome and nothing left behind.

use crate::common::project;
use serde_json::Value;
use terca_testkit::{Project, misbehaving_agent};

/// A suite of one eval whose agent is up to this mischief.
fn mischief(mode: &str, settings: &str) -> Project {
    let agent = misbehaving_agent();
    project().file(
        "terca.yaml",
        format!(
            "environments:\n  - name: bad\n    agent: {{name: command, command: '{agent} {mode}'}}\n\
             evals:\n  - name: task\n    prompt: do it\n    tests:\n      - fileExists: ready\n{settings}"
        ),
    )
}

/// Runs it, checks that nothing is left, and gives the trial.
fn survive(mode: &str, settings: &str) -> (Project, Value) {
    let project = mischief(mode, settings);
    let outcome = project.terca(&["--format", "plain"]);
    assert!(outcome.status <= 3, "{mode}: {}", outcome.stderr);
    project.assert_nothing_left();
    let trial = project.only_trial();
    (project, trial)
}

const SHORT: &str = "timeoutSeconds: 1\n";

#[test]
fn an_agent_deaf_to_signals_is_killed_and_graded() {
    let (_, trial) = survive("ignores-signals", SHORT);
    assert_eq!(trial["timedOut"], true);
    assert_eq!(
        trial["status"], "passed",
        "it had made the file that the test looks for"
    );
    assert_eq!(trial["exitCode"], Value::Null);
}

#[test]
fn daemons_in_sessions_of_their_own_are_found() {
    let (_, trial) = survive("daemons", "");
    assert_eq!(trial["status"], "passed");
}

#[test]
fn a_process_that_keeps_forking_is_outrun() {
    let (_, trial) = survive("hops", "");
    assert_eq!(trial["status"], "passed");
}

#[test]
fn a_child_that_holds_the_output_open_does_not_block_the_trial() {
    let (project, trial) = survive("outlived", "timeoutSeconds: 60\n");
    assert_eq!(trial["status"], "passed");
    assert_eq!(trial["timedOut"], false);
    assert!(project.trial_file("run.log").contains("gone already"));
}

#[test]
fn a_flood_of_output_is_kept_whole_and_logged_in_part() {
    let (project, trial) = survive("floods", "timeoutSeconds: 120\n");
    assert_eq!(trial["status"], "passed");
    let dir = project.run_dir().join(trial["dir"].as_str().unwrap());
    let size = |name: &str| std::fs::metadata(dir.join(name)).unwrap().len();
    assert!(
        size("artifacts/stdout.log") > 200_000_000,
        "nothing of it is lost"
    );
    assert!(size("run.log") < 4_000_000);
    assert!(size("transcript.jsonl") < 4_000_000);
    assert!(project.trial_file("run.log").contains("bytes left out"));
}

#[test]
fn one_line_of_fifty_megabytes_is_kept_and_not_held() {
    let (project, trial) = survive("one-long-line", "timeoutSeconds: 120\n");
    assert_eq!(trial["status"], "passed");
    assert!(
        project
            .trial_file("transcript.jsonl")
            .contains("a line of 52428800 bytes")
    );
}

#[test]
fn half_a_line_is_not_lost() {
    let (project, trial) = survive("half-a-line", "");
    assert_eq!(trial["status"], "passed");
    assert!(project.trial_file("transcript.jsonl").contains("half a li"));
    assert!(
        project
            .trial_file("run.log")
            .contains("a whole line\nhalf a li")
    );
}

#[test]
fn an_agent_that_dies_before_doing_anything_is_an_error() {
    let (_, trial) = survive("dies", "");
    assert_eq!(trial["status"], "error");
    assert_eq!(trial["error"]["kind"], "agent");
    assert!(
        trial["error"]["message"]
            .as_str()
            .unwrap()
            .contains("SIGSEGV"),
        "{trial}"
    );
    assert_eq!(trial["score"], Value::Null);
}

#[test]
fn an_agent_that_dies_after_some_work_is_judged_by_it() {
    let (_, trial) = survive("dies-after-work", "");
    assert_eq!(
        trial["status"], "failed",
        "work.txt is not what the test wants"
    );
    assert!(trial["notes"][0].as_str().unwrap().contains("SIGSEGV"));
}

#[test]
fn what_is_written_outside_stays_in_the_trials_own_room() {
    let (project, trial) = survive("writes-outside", "");
    assert_eq!(trial["status"], "passed");
    let folder = project.run_dir().join(trial["dir"].as_str().unwrap());
    let workspace = project.workspace_of(&folder);
    assert_eq!(
        workspace.join("root-link").read_link_utf8().unwrap(),
        "/",
        "links are saved as links"
    );
    assert!(!project.run_dir().join("escaped.txt").exists());
}

#[test]
fn an_agent_that_shoots_its_supervisor_gains_nothing() {
    let (_, trial) = survive("shoots-supervisor", "timeoutSeconds: 60\n");
    assert_eq!(trial["status"], "passed", "it is judged by its work");
    assert_eq!(trial["exitCode"], Value::Null);
}

#[test]
fn a_large_prompt_arrives_whole_both_ways() {
    let prompt = "x".repeat(100_000);
    let agent = misbehaving_agent();
    let project = project()
        .file("terca.yaml", format!("environments:\n  - name: bad\n    agent: {{name: command, command: '{agent} repeats-prompt'}}\n"))
        .file("task/eval.terca.yaml", format!("prompt: {prompt}\ntests:\n  - commandSuccess: cmp from-stdin.txt from-file.txt\n"));
    assert_eq!(project.terca(&[]).status, 0);
    assert_eq!(project.trial_file("workspace/from-stdin.txt"), prompt);
}

#[test]
fn every_trial_is_looked_after_when_many_run_at_once() {
    let project = mischief("daemons", "repetitions: 12\nconcurrency: 6\n");
    assert_eq!(project.terca(&["--format", "plain"]).status, 0);
    project.assert_nothing_left();
    assert_eq!(project.results()["summary"]["passed"], 12);
}

#[test]
fn an_agent_that_freezes_its_supervisor_is_ended_all_the_same() {
    let (_, trial) = survive("stops-supervisor", SHORT);
    assert_eq!(trial["status"], "passed", "it is judged by its work");
    assert_eq!(trial["timedOut"], true);
    assert!(
        trial["notes"][0]
            .as_str()
            .unwrap()
            .contains("killed or stopped"),
        "{trial}"
    );
}

#[test]
fn a_supervisor_is_not_to_be_talked_into_leaving() {
    let (_, trial) = survive("signals-supervisor", "");
    assert_eq!(trial["status"], "passed");
}

#[test]
fn a_tests_output_cannot_be_forged() {
    let agent = misbehaving_agent();
    let project = project()
        .file("terca.yaml", format!("environments:\n  - name: bad\n    agent: {{name: command, command: '{agent} forges-output'}}\n"))
        .file("task/eval.terca.yaml", "prompt: x\ntests:\n  - commandSuccess: {command: echo nothing, outputContains: ALL GOOD}\n");
    assert_eq!(project.terca(&[]).status, 1);
    assert_eq!(project.only_trial()["status"], "failed");
}

#[test]
fn a_workspace_that_is_gone_or_something_else_is_judged_as_empty() {
    for (mode, note) in [
        ("removes-workspace", "removed its workspace"),
        ("replaces-workspace", "replaced its workspace"),
    ] {
        let (project, trial) = survive(mode, "");
        assert_eq!(trial["status"], "failed", "{trial}");
        assert!(
            trial["notes"][0].as_str().unwrap().contains(note),
            "{trial}"
        );
        let folder = project.run_dir().join(trial["dir"].as_str().unwrap());
        let workspace = project.workspace_of(&folder);
        assert!(workspace.symlink_metadata().unwrap().is_dir());
    }
}
