use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::agent::playback::{self, kind, shown};
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage};
use crate::trial_error::ErrorKind;

fn stream(servers: &[&str]) -> Box<dyn Decoder> {
    playback::decoder(&AGENT, servers)
}

/// Requests, input, cached, output, tool calls; and the cost in millionths.
type Figures = (
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
);

fn figures(usage: &Usage) -> Figures {
    let cost = usage.cost_usd.map(|cost| (cost * 1e6).round() as u64);
    (
        usage.requests, usage.input_tokens, usage.cached_input_tokens, usage.output_tokens,
        usage.tool_calls, cost,
    )
}

fn play(recording: &str, servers: &[&str], exit: i32) -> (Vec<Record>, Reading) {
    let stream = stream(servers);
    playback::play(stream, recording, &[], Exit::Code(exit))
}

#[test]
fn every_recorded_session() {
    let used = |requests, input, cached, output, tools, cost| {
        (
            Some(requests),
            Some(input),
            Some(cached),
            Some(output),
            Some(tools),
            Some(cost),
        )
    };
    let nothing = (None, None, None, None, Some(0), None);
    let cut = (Some(1), None, None, None, Some(0), None);
    let table: [(&str, i32, Option<ErrorKind>, Figures); 14] = [
        (
            "claude-success",
            0,
            None,
            used(3, 23_406, 15_000, 206, 2, 64_680),
        ),
        (
            "claude-subagent",
            0,
            None,
            used(3, 38_410, 30_000, 210, 2, 72_300),
        ),
        (
            "claude-two-results-background",
            0,
            None,
            used(3, 21_306, 15_000, 156, 1, 50_430),
        ),
        (
            "claude-partial-messages",
            0,
            None,
            used(1, 2_101, 0, 51, 0, 14_280),
        ),
        (
            "claude-mcp-hooks",
            0,
            None,
            used(2, 9_203, 5_000, 103, 1, 31_090),
        ),
        (
            "claude-max-turns",
            1,
            None,
            used(2, 9_203, 5_000, 103, 2, 31_090),
        ),
        (
            "claude-max-budget",
            1,
            None,
            used(3, 21_306, 15_000, 156, 3, 50_430),
        ),
        (
            "claude-sigint",
            0,
            Some(ErrorKind::Agent),
            used(1, 2_101, 0, 51, 1, 14_280),
        ),
        ("claude-stream-cut", 0, Some(ErrorKind::ModelApi), cut),
        ("claude-unknown-slash", 0, Some(ErrorKind::Agent), nothing),
        ("claude-401-retries", 143, Some(ErrorKind::Auth), nothing),
        ("claude-nokey", 1, Some(ErrorKind::Auth), nothing),
        ("claude-429", 1, Some(ErrorKind::RateLimit), nothing),
        ("claude-500", 1, Some(ErrorKind::ModelApi), nothing),
    ];
    for (recording, exit, error, expected) in table {
        let (records, reading) = play(&format!("{recording}.jsonl"), &[], exit);
        assert_eq!(
            kind(&reading.ending),
            error,
            "{recording}: {:?}",
            reading.ending
        );
        assert_eq!(figures(&reading.usage), expected, "{recording}");
        // The first event names the requested model; only an answer names the one that answers.
        let answered = reading.usage.requests.is_some();
        let model = answered.then_some("claude-opus-4-8");
        assert_eq!(reading.model.as_deref(), model, "{recording}");
        let calls = records
            .iter()
            .filter(|record| matches!(record.step, Step::ToolCall { .. }))
            .count();
        assert_eq!(
            Some(calls as u64),
            reading.usage.tool_calls,
            "{recording}: the transcript agrees"
        );
    }
}

#[test]
fn limits_are_notes() {
    assert_eq!(
        play("claude-max-turns.jsonl", &[], 1).1.notes,
        ["Reached maximum number of turns (2)"]
    );
    assert_eq!(
        play("claude-max-budget.jsonl", &[], 1).1.notes,
        ["Reached maximum budget ($0.05)"]
    );
}

#[test]
fn an_answer_that_breaks_off_after_others_is_no_success() {
    let mut stream = stream(&[]);
    stream.stdout(Line::Text(
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":2,"stop_reason":"tool_use","result":"partial",
        "modelUsage":{"m":{"inputTokens":101}}}"#,
    ));
    assert_eq!(
        kind(&stream.finish(Exit::Code(0)).ending),
        Some(ErrorKind::ModelApi)
    );
}

#[test]
fn denied_tools_are_a_note() {
    let mut stream = stream(&[]);
    stream.stdout(Line::Text(
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":2,"stop_reason":"end_turn","result":"ok",
        "modelUsage":{"m":{"inputTokens":1}},"permission_denials":[{"tool_name":"Write"},{"tool_name":"Bash"},{"tool_name":"Bash"}]}"#,
    ));
    let reading = stream.finish(Exit::Code(0));
    assert_eq!(reading.ending, Ending::Completed);
    assert_eq!(
        reading.notes,
        ["no permission was given for 3 tool calls: Bash, Write"]
    );
}

#[test]
fn a_killed_session_has_the_figures_of_its_transcripts() {
    let mut stream = stream(&[]);
    stream.stdout(Line::Text(
        r#"{"type":"assistant","message":{"id":"a","model":"claude-x","content":[{"type":"text","text":"Hi"}],"usage":{"input_tokens":3,"output_tokens":1}}}"#,
    ));
    for line in [
        r#"{"type":"user","message":{"role":"user","content":"do it"},"uuid":"1"}"#,
        r#"{"type":"assistant","message":{"id":"a","model":"claude-x","content":[],"usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}}}"#,
        r#"{"type":"assistant","message":{"id":"a","model":"claude-x","content":[],"usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":7}}}"#,
        r#"{"type":"assistant","message":{"id":"sub","model":"claude-x","content":[],"usage":{"input_tokens":4,"cache_read_input_tokens":200,"output_tokens":9}}}"#,
        r#"{"type":"assistant","message":{"id":"s","model":"<synthetic>","content":[],"usage":{"input_tokens":0,"output_tokens":0}}}"#,
        r#"{"type":"file-history-snapshot"}"#,
    ] {
        stream.side_line("session.jsonl", line);
    }
    let reading = stream.finish(Exit::Signal(9));
    assert_eq!(
        figures(&reading.usage),
        (Some(2), Some(327), Some(300), Some(16), Some(0), None)
    );
    assert_eq!(kind(&reading.ending), Some(ErrorKind::Agent));
}

#[test]
fn trouble_that_is_over_is_forgotten() {
    let mut stream = stream(&[]);
    let records = stream.stdout(Line::Text(
        r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":3,"error_status":429,"error":"rate_limit"}"#,
    ));
    let text = "a request failed and is tried again, 1/3: 429 rate_limit".to_owned();
    assert_eq!(records[0].step, Step::Notice { text });
    stream.stdout(Line::Text(
        r#"{"type":"assistant","message":{"id":"a","model":"m","content":[{"type":"text","text":"Hi"}]}}"#,
    ));
    assert_eq!(
        kind(&stream.finish(Exit::Signal(2)).ending),
        Some(ErrorKind::Agent)
    );
}

#[test]
fn a_session_that_never_began_ends_with_its_last_words() {
    let mut stream = stream(&[]);
    stream.stderr(Line::Text(
        "--dangerously-skip-permissions cannot be used with root/sudo privileges",
    ));
    let reading = stream.finish(Exit::Code(1));
    let Ending::Failed(error) = &reading.ending else {
        panic!("{:?}", reading.ending)
    };
    assert_eq!(error.kind, ErrorKind::Agent);
    assert!(error.message.contains("root/sudo"), "{}", error.message);
}

#[test]
fn what_is_said_and_done_becomes_steps() {
    let (records, _) = play("claude-success.jsonl", &[], 0);
    assert_eq!(
        records[0].step,
        Step::Message {
            role: Role::Assistant,
            text: "I'll write fib.js.".into()
        }
    );
    assert!(matches!(&records[1].step, Step::ToolCall { tool, .. } if tool == "Write"));
    assert!(matches!(
        &records[2].step,
        Step::ToolResult {
            ok: true,
            output: Some(_),
            ..
        }
    ));
    assert_eq!(records[2].time.as_deref(), Some("2026-11-15T00:08:34.472Z"));
    let (records, _) = play("claude-partial-messages.jsonl", &[], 0);
    assert_eq!(records[0].step, Step::Reasoning { text: "hmm".into() });
    assert_eq!(records.len(), 2, "pieces of messages are not messages");
}

fn inputs<'a>(
    servers: &'a [(String, McpServer<String>)],
    config: Option<&'a Value>,
    prompt: &'a str,
    variables: &'a BTreeSet<String>,
) -> Inputs<'a> {
    Inputs {
        model: Some("claude-opus-4-8"),
        prompt,
        ..playback::inputs(servers, config, variables)
    }
}

#[test]
fn an_invocation_with_everything() {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let remote = |transport| McpServer::Remote {
        url: "http://127.0.0.1:1/mcp".into(),
        headers: vec![pair("Authorization", "Bearer x")],
        transport,
    };
    let stdio = McpServer::Stdio {
        command: "node".into(),
        args: vec!["server.js".into()],
        env: vec![pair("KEY", "value")],
        cwd: Some("/tools".into()),
    };
    let servers = [
        ("stdio".to_owned(), stdio),
        ("web".to_owned(), remote(RemoteTransport::Http)),
        ("old".to_owned(), remote(RemoteTransport::Sse)),
    ];
    let config = json!({ "effortLevel": "high", "env": { "A": "b" } });
    let variables = BTreeSet::new();
    let inputs = Inputs {
        superuser: true,
        ..inputs(&servers, Some(&config), "Do it", &variables)
    };
    insta::assert_snapshot!(shown(&(AGENT.invocation)(&inputs)));
}

#[test]
fn an_invocation_with_nothing() {
    let variables = BTreeSet::new();
    let inputs = Inputs {
        model: None,
        ..inputs(&[], None, "Do it", &variables)
    };
    insta::assert_snapshot!(shown(&(AGENT.invocation)(&inputs)));
}

#[test]
fn a_prompt_that_looks_like_a_command_is_none() {
    assert_eq!(stdin("Fix / and /tmp"), Stdin::Prompt);
    assert_eq!(
        stdin("/init the project"),
        Stdin::Text("\n/init the project".into())
    );
}
