//! Errors are tried again, judgements never are; an agent that cannot sign in is asked once.

use crate::common::project;
use serde_json::Value;
use terca_testkit::{Project, recorded_streams, stand_ins};

/// An agent that crashes before doing anything, until it has been started so often for its trial.
fn crashing(until: u32) -> Project {
    project().executable(
        "agent.sh",
        &format!(
            "#!/bin/sh\n\
             echo x >> $COUNTER\n\
             [ $(wc -l < $COUNTER) -ge {until} ] || exit 9\n\
             echo done > done.txt\n"
        ),
    )
}

fn counting_starts(project: Project, more: &str) -> Project {
    let counter = project.path("starts");
    project.file(
        "terca.yaml",
        format!(
            "env: {{COUNTER: '{counter}'}}\n{more}\
             environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n\
             evals:\n  - name: task\n    prompt: x\n    tests: [{{name: done, fileExists: done.txt}}]\n"
        ),
    )
}

fn starts(project: &Project) -> usize {
    project.read("starts").lines().count()
}

#[test]
fn an_error_is_tried_again_and_every_attempt_is_kept() {
    let project = counting_starts(crashing(3), "");
    let outcome = project.terca(&["--retries", "5", "--format", "plain"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(starts(&project), 3);
    let trial = project.only_trial();
    assert_eq!(
        (&trial["status"], &trial["attempts"]),
        (&"passed".into(), &3.into())
    );
    let earlier = trial["earlierAttempts"].as_array().unwrap();
    assert_eq!(earlier.len(), 2);
    assert_eq!(earlier[0]["error"]["kind"], "agent");
    for attempt in ["attempts/01", "attempts/02", "."] {
        let log = project.trial_file(&format!("{attempt}/run.log"));
        assert_eq!(
            log.contains("error (agent)"),
            attempt != ".",
            "{attempt}: {log}"
        );
        assert!(
            project
                .trial_path(&format!("{attempt}/workspace.changes/tree"))
                .is_dir(),
            "{attempt}"
        );
    }
    for (attempt, status) in [("1", 0), ("2", 0), ("3", 0), ("4", 2)] {
        let made = format!("../home/{attempt}");
        let args = ["workspace", "--attempt", attempt, "--to", &made];
        project.terca(&args).expect_status(status);
        assert_eq!(project.path(&made).is_dir(), status == 0);
    }
    assert!(outcome.stderr.contains("↻ retry"), "{}", outcome.stderr);
    project.assert_nothing_left();
}

#[test]
fn retries_may_stand_in_the_suite_and_run_out() {
    let project = counting_starts(crashing(9), "retries: 1\n");
    assert_eq!(project.terca(&[]).status, 3);
    assert_eq!(starts(&project), 2);
    let trial = project.only_trial();
    assert_eq!(
        (&trial["status"], &trial["attempts"]),
        (&"error".into(), &2.into())
    );
    // The command line overrides the suite.
    assert_eq!(project.terca(&["--retries", "0"]).status, 3);
    assert_eq!(starts(&project), 3);
    assert!(project.only_trial().get("earlierAttempts").is_none());
}

#[test]
fn a_trial_that_was_judged_is_never_tried_again() {
    let project = counting_starts(
        project().executable("agent.sh", "#!/bin/sh\necho x >> $COUNTER\n"),
        "",
    );
    assert_eq!(project.terca(&["--retries", "5"]).status, 1);
    assert_eq!(starts(&project), 1);
    assert_eq!(project.only_trial()["status"], "failed");
}

#[test]
fn set_up_is_not_tried_again() {
    let project = counting_starts(
        crashing(1),
        "before: [{command: 'echo x >> $COUNTER; exit 1'}]\n",
    );
    assert_eq!(project.terca(&["--retries", "5"]).status, 3);
    assert_eq!(starts(&project), 1);
    assert_eq!(project.only_trial()["error"]["kind"], "setup");
}

/// Gemini CLI's stand-in, which plays a recorded stream for each repetition.
fn gemini(prompt: &str, more: &str) -> Project {
    let streams = recorded_streams();
    project()
        .env(
            "PATH",
            &format!(
                "{}:{}",
                stand_ins(),
                std::env::var("PATH").unwrap_or_default()
            ),
        )
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .file(
            "terca.yaml",
            format!(
                "env: {{TERCA_TEST_STREAMS: '{streams}'}}\n{more}\
                 environments:\n  - {{name: g, agent: gemini}}\n  - {{name: n, agent: nop}}\n\
                 evals:\n  - name: task\n    prompt: {prompt}\n    allowWarnings: no-tests\n"
            ),
        )
}

fn statuses(results: &Value, environment: &str) -> Vec<String> {
    let trials = results["trials"].as_array().unwrap().iter();
    let of = trials.filter(|trial| trial["environment"] == environment);
    of.map(|trial| trial["status"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn an_agent_that_is_not_signed_in_is_asked_once() {
    let project = gemini("play 401", "repetitions: 5\nconcurrency: 1\nretries: 3\n");
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    let results = project.results();
    assert_eq!(
        statuses(&results, "g")
            .iter()
            .filter(|status| *status == "error")
            .count(),
        1
    );
    assert_eq!(
        statuses(&results, "g")
            .iter()
            .filter(|status| *status == "pending")
            .count(),
        4
    );
    assert_eq!(
        statuses(&results, "n"),
        ["unverified"; 5],
        "the other variant goes on"
    );
    assert_eq!(results["stoppedVariants"][0]["environment"], "g");
    assert_eq!(results["stoppedVariants"][0]["error"]["kind"], "auth");
    assert!(
        outcome
            .stderr
            .contains("stopped: g.default: 4 further trials not started"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stdout.contains("`terca resume --errors` runs them"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_program_that_is_missing_is_looked_for_once() {
    let project =
        gemini("play success", "repetitions: 4\nconcurrency: 1\n").env("PATH", "/usr/bin:/bin");
    assert_eq!(project.terca(&[]).status, 3);
    let statuses = statuses(&project.results(), "g");
    assert_eq!(
        statuses.iter().filter(|status| *status == "error").count(),
        1,
        "{statuses:?}"
    );
}

#[test]
fn the_delay_that_a_provider_asks_for_is_kept() {
    // The recorded stream says "retry after 1s".
    let project = gemini("play 429", "");
    let outcome = project.terca(&["--retries", "1", "-e", "g", "--format", "json"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    let events: Vec<Value> = outcome
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let failed = events
        .iter()
        .find(|event| event["event"] == "attemptFailed")
        .unwrap();
    assert_eq!(failed["report"]["error"]["kind"], "rateLimit");
    let wait = failed["waitSeconds"].as_f64().unwrap();
    assert!((1.0..=1.1).contains(&wait), "{wait}");
    assert_eq!(project.only_trial()["attempts"], 2);
}

#[test]
fn an_agent_has_no_more_slots_than_the_suite_gives_it() {
    // Two at once would meet at the door.
    let project = project().executable(
        "agent.sh",
        "#!/bin/sh\nmkdir $DOOR || exit 0\nsleep 0.05\nrmdir $DOOR\ntouch alone\n",
    );
    let door = project.path("door");
    let project = project.file(
        "terca.yaml",
        format!(
            "env: {{DOOR: '{door}'}}\nrepetitions: 6\nconcurrency: {{default: 4, command: 1}}\n\
             environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n\
             evals: [{{name: task, prompt: x, tests: [{{fileExists: alone}}]}}]\n"
        ),
    );
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("1 at a time"), "{}", outcome.stderr);
    // The command line overrides it.
    assert_eq!(project.terca(&["-c", "6"]).status, 1);
}
