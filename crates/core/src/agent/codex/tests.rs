use std::collections::BTreeSet;

use super::*;
use crate::agent::playback::{self, kind};
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Step, Usage};
use crate::trial_error::ErrorKind;

fn stream(servers: &[&str]) -> Decoder {
    playback::decoder(&AGENT, servers)
}

fn play(recording: &str, servers: &[&str], exit: i32) -> (Vec<Record>, Reading) {
    let stream = stream(servers);
    playback::play(stream, recording, &[], Exit::Code(exit))
}

#[test]
fn figures_come_from_the_rollouts_of_all_threads() {
    let mut stream = stream(&[]);
    stream.stdout(Line::Text(
        r#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ));
    for line in [
        r#"{"timestamp":"t","ordinal":0,"type":"session_meta","payload":{"id":"x"}}"#,
        r#"{"timestamp":"t","type":"turn_context","payload":{"model":"gpt-6.1-sol","cwd":"/w"}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call","call_id":"c1","name":"exec_command"}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c1"}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user"}}"#,
        r#"{"timestamp":"t","type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":1000,"cached_input_tokens":400,"output_tokens":60,"reasoning_output_tokens":20}}}"#,
        r#"{"timestamp":"t","type":"turn_context","payload":{"model":"of-a-subagent"}}"#,
        r#"{"timestamp":"t","type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":1000,"cached_input_tokens":400,"output_tokens":60}}}"#,
        r#"{"timestamp":"t","type":"token_usage_record","payload":{"response_id":"r2","usage":{"input_tokens":7,"cached_input_tokens":0,"output_tokens":5}}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call","call_id":"c2","name":"apply_patch"}}"#,
    ] {
        stream.side_line("rollout.jsonl", line);
    }
    let reading = stream.finish(Exit::Code(0));
    assert_eq!(
        reading.usage,
        Usage {
            requests: Some(2),
            input_tokens: Some(1007),
            cached_input_tokens: Some(400),
            output_tokens: Some(65),
            tool_calls: Some(2),
            cost_usd: None
        }
    );
    assert_eq!(reading.model, None, "a context has what was asked for");
}

#[test]
fn a_result_that_the_server_calls_an_error_is_a_failed_call() {
    let mut stream = stream(&["tiny"]);
    let mut failed = Vec::new();
    for line in [
        r#"{"type":"item.started","item":{"id":"item_1","type":"mcp_tool_call","server":"tiny","tool":"magic","arguments":{"x":42},"result":null,"error":null,"status":"in_progress"}}"#,
        r#"{"type":"item.completed","item":{"id":"item_1","type":"mcp_tool_call","server":"tiny","tool":"magic","arguments":{"x":42},"result":{"content":[{"type":"text","text":"refused"}],"structured_content":null},"error":null,"status":"failed"}}"#,
    ] {
        failed.extend(stream.stdout(Line::Text(line)));
    }
    assert!(matches!(failed[1].step, Step::ToolResult { ok: false, .. }));
}

#[test]
fn a_required_server_that_does_not_start_is_an_error() {
    let mut stream = stream(&["good", "broken"]);
    stream.stdout(Line::Text(r#"{"type":"thread.started","thread_id":"x"}"#));
    stream.stderr(Line::Text("Reading prompt from stdin..."));
    stream.stderr(Line::Text(
        "Error: thread/start: required MCP servers failed to initialize: broken: No such file (code -32603)",
    ));
    let reading = stream.finish(Exit::Code(1));
    let Ending::Failed(error) = &reading.ending else {
        panic!("{:?}", reading.ending)
    };
    assert_eq!(error.kind, ErrorKind::Mcp);
    assert!(error.message.contains("broken: No such file"));
}

#[test]
fn warnings_are_notes_and_failures_are_said_once() {
    let (_, reading) = play("codex-subagent.jsonl", &[], 0);
    assert!(reading.notes[0].starts_with("Model metadata for `mock-model` not found"));
    let (records, _) = play("codex-429.jsonl", &[], 1);
    assert_eq!(records.len(), 1);
}

#[test]
fn trouble_that_is_over_is_forgotten() {
    let mut stream = stream(&[]);
    for line in [
        r#"{"type":"turn.started"}"#,
        r#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized)"}"#,
        r#"{"type":"item.started","item":{"id":"i","type":"command_execution","command":"sleep 9","status":"in_progress"}}"#,
    ] {
        stream.stdout(Line::Text(line));
    }
    stream.stderr(Line::Text(
        "ERROR codex_api: unexpected status 401 Unauthorized",
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
        "WARNING: proceeding, even though we could not create PATH aliases",
    ));
    stream.stderr(Line::Text("Error loading config.toml:"));
    stream.stderr(Line::Text(
        "config.toml:5:1: unknown configuration field `modle`",
    ));
    let Ending::Failed(error) = stream.finish(Exit::Code(1)).ending else {
        panic!("not failed")
    };
    assert_eq!(error.kind, ErrorKind::Agent);
    assert!(
        error
            .message
            .contains("config.toml:5:1: unknown configuration field"),
        "{}",
        error.message
    );
}

fn inputs<'a>(
    servers: &'a [(String, McpServer<String>)],
    config: Option<&'a Value>,
    variables: &'a BTreeSet<String>,
) -> Inputs<'a> {
    playback::inputs(servers, config, variables)
}

#[test]
fn the_key_that_the_built_in_provider_does_not_read_gets_a_provider() {
    let only = BTreeSet::from(["OPENAI_API_KEY".to_owned()]);
    insta::assert_snapshot!(document::toml(&settings(&inputs(&[], None, &only))));
    let both = BTreeSet::from(["OPENAI_API_KEY".to_owned(), "CODEX_API_KEY".to_owned()]);
    assert_eq!(
        settings(&inputs(&[], None, &both)).get("model_provider"),
        None
    );
}
