//! A service that is dead, slow or broken is an error of the trial, never a failure of the agent.

use serde_json::Value;
use terca_testkit::Project;

use crate::common::project;

const CALL: &str = r#"{"type":"tool_use","tool_name":"shell","tool_id":"1","parameters":{}}"#;
const RESULT: &str = r#"{"type":"tool_result","tool_id":"1","status":"success","output":"out"}"#;
const SAID: &str = r#"{"type":"message","role":"assistant","content":"I will"}"#;
const HANG: &str = "exec sleep 1000";

/// Returns a project whose agent is a program of the name that prints these lines and then does this.
fn playing(agent: &str, program: &str, lines: &[&str], then: &str, limit: u32) -> Project {
    let mut script = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 9.9.9; exit; }\n".to_owned();
    for line in lines {
        script.push_str(&format!("cat <<'END'\n{line}\nEND\n"));
    }
    script.push_str(then);
    script.push('\n');
    let project = project();
    let path = std::env::var("PATH").unwrap_or_default();
    let bin = project.dir().join("bin");
    project
        .env("PATH", &format!("{bin}:{path}"))
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .env("ANTHROPIC_API_KEY", "fake-key-for-tests")
        .executable(&format!("bin/{program}"), &script)
        .file(
            "terca.yaml",
            format!(
                "environments: [{{name: e, agent: {agent}}}]\n\
                 evals:\n  - name: task\n    prompt: Do it.\n    timeoutSeconds: {limit}\n    tests: [fileExists: out.txt]\n"
            ),
        )
}

fn gemini(lines: &[&str], then: &str, limit: u32) -> Value {
    let project = playing("gemini-cli", "gemini", lines, then, limit);
    project.terca(&["--format", "plain"]);
    project.only_trial()
}

fn kind(trial: &Value) -> &str {
    trial["error"]["kind"].as_str().unwrap_or("none")
}

#[test]
fn a_model_that_never_answers_is_an_error() {
    let trial = gemini(&[], HANG, 2);
    assert_eq!(trial["status"], "error", "{trial}");
    assert_eq!(kind(&trial), "modelApi");
    let message = trial["error"]["message"].as_str().unwrap();
    assert!(message.contains("the model never answered"), "{message}");
    assert_eq!(trial["score"], Value::Null);
}

#[test]
fn a_model_that_falls_silent_after_an_answer_is_an_error() {
    let trial = gemini(&[CALL, RESULT], HANG, 3);
    assert_eq!(trial["status"], "error", "{trial}");
    assert_eq!(kind(&trial), "modelApi");
}

#[test]
fn a_tool_that_hangs_is_the_agents_own_failure() {
    let trial = gemini(&[CALL], HANG, 2);
    assert_eq!(trial["status"], "failed", "{trial}");
    assert_eq!(trial["timedOut"], true);
}

/// An agent that is asked to end prints its last words at once, or takes its time for them.
#[test]
fn last_words_change_nothing_about_what_was_waited_for() {
    let printing = |line: &str, seconds: f32| {
        let say = format!("cat <<'END'\n{line}\nEND\nsleep {seconds}; exit 0");
        format!("last() {{\n{say}\n}}\ntrap last TERM INT\nsleep 1000 & wait")
    };
    for seconds in [0.0, 1.0] {
        let trial = gemini(&[CALL], &printing(RESULT, seconds), 3);
        assert_eq!(trial["status"], "failed", "a tool was at work: {trial}");
        let trial = gemini(&[CALL, RESULT], &printing(SAID, seconds), 3);
        assert_eq!(kind(&trial), "modelApi", "the model was silent: {trial}");
    }
}

#[test]
fn honest_work_that_takes_too_long_is_judged() {
    let work = format!("while :; do cat <<'END'\n{SAID}\nEND\nsleep 0.1; done");
    let trial = gemini(&[CALL, RESULT], &work, 2);
    assert_eq!(trial["status"], "failed", "{trial}");
    assert_eq!(trial["timedOut"], true);
}

/// Work that was done shows an answer which the stream does not.
#[test]
fn work_that_is_there_is_judged() {
    let trial = gemini(&[], &format!("echo 1 > out.txt; {HANG}"), 2);
    assert_eq!(trial["status"], "passed", "{trial}");
}

/// Nobody knows what a program of one's own waits for.
#[test]
fn a_command_that_hangs_is_judged() {
    let project = project().agent("sleep 1000").file(
        "task/eval.terca.yaml",
        "prompt: Do it.\ntimeoutSeconds: 1\ntests: [fileExists: out.txt]\n",
    );
    project.terca(&["--format", "plain"]);
    assert_eq!(project.only_trial()["status"], "failed");
}

#[test]
fn retries_that_outlive_the_limit_are_errors_of_their_kind() {
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"error_status":429,"error":"rate_limit"}"#;
    let project = playing("claude-code", "claude", &[retry], HANG, 2);
    project.terca(&["--format", "plain"]);
    let trial = project.only_trial();
    assert_eq!(kind(&trial), "rateLimit", "{trial}");

    let failed = r#"{"type":"model.call_failure","data":{"model":"m","statusCode":500}}"#;
    let answer = r#"{"type":"assistant.message","data":{"content":"I will"}}"#;
    let project = playing("copilot", "copilot", &[answer, failed], HANG, 3)
        .env("COPILOT_GITHUB_TOKEN", "fake-key-for-tests");
    project.terca(&["--format", "plain"]);
    let trial = project.only_trial();
    assert_eq!(kind(&trial), "modelApi", "{trial}");
    let message = trial["error"]["message"].as_str().unwrap();
    assert!(message.contains("500"), "{message}");
}

#[test]
fn a_wrong_model_ends_its_variant_and_is_not_tried_again() {
    let end = r#"{"type":"result","timestamp":"2026-11-15T00:14:15.635Z","status":"error","error":{"type":"unknown","message":"[API Error: models/x is not found]"},"stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0,"input":0,"duration_ms":0,"tool_calls":0,"models":{}}}"#;
    let project = playing("gemini-cli", "gemini", &[end], "exit 1", 60);
    let outcome = project.terca(&["--format", "plain", "--retries", "2", "-n", "3", "-c", "1"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let statuses: Vec<_> = trials.iter().map(|trial| &trial["status"]).collect();
    assert_eq!(statuses, ["error", "pending", "pending"], "{results}");
    assert_eq!(kind(&trials[0]), "model");
    assert_eq!(trials[0]["attempts"], 1);
}

#[test]
fn a_conversation_that_outgrew_the_context_is_judged() {
    let end = r#"{"type":"result","timestamp":"2026-11-15T00:14:15.635Z","status":"error","error":{"type":"unknown","message":"[API Error: The input token count (9) exceeds the maximum number of tokens allowed (8).]"},"stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0,"input":0,"duration_ms":0,"tool_calls":0,"models":{}}}"#;
    let trial = gemini(&[CALL, RESULT, end], "exit 1", 60);
    assert_eq!(trial["status"], "failed", "{trial}");
    let notes = trial["notes"].to_string();
    assert!(notes.contains("outgrew the model's context"), "{notes}");
}

/// Judges cost money too, and nobody knows what a trial costs before the first one has ended.
#[test]
fn judges_count_in_the_budget() {
    let judge = "echo '{\"costUsd\": 0.5}' > $TERCA_STATS_FILE; echo '{\"score\": 1}'";
    let project = project()
        .agent("echo > out.txt")
        .executable("judge.sh", &format!("#!/bin/sh\n{judge}\n"))
        .file(
            "task/eval.terca.yaml",
            "prompt: Do it.\ntests:\n  - name: taste\n    judge:\n      rubric: It is short.\n      \
             agent: {name: command, command: ../judge.sh}\n",
        );
    project.terca(&[
        "--format", "plain", "-n", "6", "-c", "6", "--budget-usd", "1",
    ]);
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let ran = trials
        .iter()
        .filter(|trial| trial["status"] != "pending")
        .count();
    assert_eq!(ran, 2, "{results}");
    assert_eq!(results["summary"]["spent"]["costUsd"], 1.0);
    assert_eq!(results["stopped"], "budget");
}
