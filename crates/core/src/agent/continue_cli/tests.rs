use serde_json::json;

use super::*;
use crate::agent::playback::{self, kind};
use crate::agent::{Line, Reading};
use crate::process::Exit;
use crate::transcript::{Step, Usage};
use crate::trial_error::ErrorKind;

fn play(recording: &str, stderr: &[&str], servers: &[&str], exit: Exit) -> Reading {
    let mut session = playback::decoder(&AGENT, servers);
    for line in stderr {
        session.stderr(Line::Text(line));
    }
    if !recording.is_empty() {
        for line in playback::recorded(recording).lines() {
            session.side_line("session.json", line);
        }
    }
    session.finish(exit)
}

/// As they were seen on standard error; there is no session then.
#[test]
fn errors_are_one_object() {
    for (line, failed) in [
        (
            r#"{"status":"error","message":"401 the script says 401"}"#,
            ErrorKind::Auth,
        ),
        (
            r#"{"status":"error","message":"403 the script says 403"}"#,
            ErrorKind::Auth,
        ),
        (
            r#"{"status":"error","message":"429 the script says 429"}"#,
            ErrorKind::RateLimit,
        ),
        (
            r#"{"status":"error","message":"500 the script says 500"}"#,
            ErrorKind::ModelApi,
        ),
        (
            r#"{"status":"error","message":"Connection error."}"#,
            ErrorKind::ModelApi,
        ),
        (
            r#"{"status":"error","message":"No models were found."}"#,
            ErrorKind::Agent,
        ),
        ("error: unknown option '--nonsense'", ErrorKind::Agent),
    ] {
        let reading = play("", &[line], &[], Exit::Code(1));
        assert_eq!(kind(&reading.ending), Some(failed), "{line}");
        assert_eq!(
            reading.usage,
            Usage::default(),
            "what is not known is not 0"
        );
    }
}

/// It exits with 0 when it is told to end.
#[test]
fn a_session_that_stops_has_no_end() {
    assert_eq!(
        kind(&play("", &[], &[], Exit::Code(0)).ending),
        Some(ErrorKind::Agent)
    );
    let mut session = playback::decoder(&AGENT, &[]);
    let call = json!({ "id": "1", "function": { "name": "Bash", "arguments": "{}" } });
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 2 });
    let message =
        json!({ "role": "assistant", "content": "", "toolCalls": [call], "usage": usage });
    session.side_line(
        "session.json",
        &json!({ "history": [{ "message": message }] }).to_string(),
    );
    let reading = session.finish(Exit::Code(0));
    assert_eq!(kind(&reading.ending), Some(ErrorKind::Agent));
    assert_eq!(reading.usage.tool_calls, Some(1));
    let half = "{\"history\": [";
    let mut session = playback::decoder(&AGENT, &[]);
    session.side_line("session.json", half);
    assert_eq!(
        session.finish(Exit::Code(0)).notes.len(),
        1,
        "half a document is a note"
    );
}

#[test]
fn tools_have_their_server_where_there_is_one() {
    let reading = play("continue-mcp.json", &[], &["tiny"], Exit::Code(0));
    let of_tiny = |step: &Step| matches!(step, Step::ToolCall { tool, server: Some(name), .. } if tool == "magic" && name == "tiny");
    assert_eq!(
        reading
            .records
            .iter()
            .filter(|record| of_tiny(&record.step))
            .count(),
        1
    );
    // Of two servers nobody can say whose tool it was.
    let reading = play("continue-mcp.json", &[], &["tiny", "other"], Exit::Code(0));
    assert!(!reading.records.iter().any(|record| of_tiny(&record.step)));

    let line = r#"{"status":"error","message":"MCP server(s) failed to load:\ntiny: MCP error -32000: Connection closed"}"#;
    let reading = play("", &[line], &["tiny", "other"], Exit::Code(1));
    assert_eq!(kind(&reading.ending), Some(ErrorKind::Mcp));
}

#[test]
fn the_log_shows_the_talk_with_the_model() {
    use crate::agent::TimeLimit;
    use std::time::Duration;

    let line = |what: &str| format!("2026-11-16 00:06:37.578 [cbe37441] [debug]: {what}");
    let answered = line(r#"Stream complete {"chunkCount":5,"toolCallsCount":1}"#);
    let failed =
        line(r#"Retry attempt {"attempt":2,"delay":1641,"error":"429 the script says 429"}"#);
    let calling = line(
        r#"Updated tool call state {"messageIndex":1,"toolCallId":"c","updates":{"status":"calling"}}"#,
    );
    let done = line(
        r#"Updated tool call state {"messageIndex":1,"toolCallId":"c","updates":{"status":"done"}}"#,
    );
    let request = line(r#"Creating chat completion stream {"model":{"name":"Mock"}}"#);
    for (lines, expected) in [
        (vec![], None),
        (vec![&request], Some(ErrorKind::ModelApi)),
        (vec![&request, &failed], Some(ErrorKind::RateLimit)),
        (vec![&answered, &calling], None),
        (vec![&answered, &calling, &done], Some(ErrorKind::ModelApi)),
    ] {
        let mut session = playback::decoder(&AGENT, &[]);
        for line in &lines {
            session.side_line(LOG, line);
        }
        let reading = session.finish(Exit::Signal(15));
        let end = TimeLimit {
            limit: Duration::from_secs(20),
            silence: Duration::from_secs(15),
            tool_was_running: false,
        };
        let fault = reading.conversation.fault_at_time_limit(end, false, false);
        assert_eq!(fault.map(|fault| fault.kind), expected, "{lines:?}");
    }
}
