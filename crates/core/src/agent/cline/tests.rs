use serde_json::json;

use super::*;
use std::time::Duration;

use crate::agent::TimeLimit;
use crate::agent::playback::{self, kind};
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Step};
use crate::trial_error::ErrorKind;

fn stream(servers: &[&str]) -> Decoder {
    playback::decoder(&AGENT, servers)
}

/// With some lines of the log.
fn play(recording: &str, servers: &[&str], log: &[&str], exit: i32) -> (Vec<Record>, Reading) {
    let mut stream = stream(servers);
    for line in log {
        stream.side_line(LOG, line);
    }
    playback::play(stream, recording, &[], Exit::Code(exit))
}

#[test]
fn the_log_knows_the_status() {
    let refused = |status: u16| {
        let attempt = json!({ "message": "no", "statusCode": status });
        json!({ "msg": "[ai-sdk] stream error", "err": { "aggregateErrors": [attempt] } })
            .to_string()
    };
    for (status, expected) in [
        (401, ErrorKind::Auth),
        (403, ErrorKind::Auth),
        (404, ErrorKind::ModelApi),
        (429, ErrorKind::RateLimit),
        (503, ErrorKind::ModelApi),
    ] {
        let (_, reading) = play("cline-err429.jsonl", &[], &[&refused(status)], 1);
        assert_eq!(kind(&reading.ending), Some(expected), "{status}");
        assert!(matches!(&reading.ending, Ending::Failed(error)
            if error.message == format!("script says 429 (HTTP {status})")));
    }
    let unreachable =
        r#"{"msg":"[ai-sdk] stream error","err":{"message":"Cannot connect to API"}}"#;
    let (_, reading) = play("cline-err429.jsonl", &[], &[unreachable], 1);
    assert_eq!(kind(&reading.ending), Some(ErrorKind::ModelApi));
}

#[test]
fn a_session_without_a_result_has_no_end() {
    let mut killed = stream(&[]);
    killed.stderr(Line::Text(
        "Warning: AI SDK Warning System: To turn off warning logging, say so.",
    ));
    killed.stderr(Line::Text("      at iX (/$bunfs/root/chunk.js:26:46952)"));
    let ending = killed.finish(Exit::Signal(9)).ending;
    assert!(matches!(&ending, Ending::Failed(error)
        if error.kind == ErrorKind::Agent && error.message.starts_with("the session broke off: killed by")));

    let mut unsigned = stream(&[]);
    unsigned.stderr(Line::Text(
        r#"{"ts":"x","type":"error","message":"Missing API key for provider"}"#,
    ));
    assert_eq!(
        kind(&unsigned.finish(Exit::Code(1)).ending),
        Some(ErrorKind::Auth)
    );

    let mut waiting = stream(&[]);
    waiting.side_line(
        LOG,
        r#"{"msg":"[ai-sdk] stream error","err":{"message":"no","statusCode":500}}"#,
    );
    let ending = waiting.finish(Exit::Signal(15)).ending;
    assert!(matches!(&ending, Ending::Failed(error)
        if error.kind == ErrorKind::ModelApi && error.message == "the model never answered: no"));

    let asked = r#"{"type":"agent_event","event":{"type":"iteration_start","iteration":1}}"#;
    let heard = r#"{"type":"agent_event","event":{"type":"content_start","contentType":"text","text":"I"}}"#;
    for (lines, expected) in [
        (&[asked][..], true),
        (&[asked, heard][..], false),
        (&[], true),
    ] {
        let mut silent = stream(&[]);
        lines
            .iter()
            .for_each(|line| drop(silent.stdout(Line::Text(line))));
        let reading = silent.finish(Exit::Signal(15));
        assert_eq!(kind(&reading.ending), Some(ErrorKind::Agent), "{lines:?}");
        let end = TimeLimit {
            limit: Duration::from_secs(60),
            silence: Duration::from_secs(20),
            tool_was_running: false,
        };
        let fault = reading.conversation.fault_at_time_limit(end, false, false);
        assert_eq!(fault.is_some(), expected, "{lines:?}");
    }
}

#[test]
fn a_session_that_was_cut_off_is_judged() {
    for (reason, failed, notes) in [
        ("max_iterations", None, 1),
        ("mistake_limit", None, 1),
        ("aborted", Some(ErrorKind::Agent), 0),
    ] {
        let mut stream = stream(&[]);
        stream.stdout(Line::Text(
            &json!({ "type": "run_result", "finishReason": reason }).to_string(),
        ));
        let reading = stream.finish(Exit::Code(0));
        assert_eq!(kind(&reading.ending), failed, "{reason}");
        assert_eq!(reading.notes.len(), notes, "{reason}");
    }
}

#[test]
fn tools_have_their_server() {
    let servers = ["tiny", "other"];
    let (records, _) = play("cline-mcp.jsonl", &servers, &[], 0);
    assert!(records.iter().any(|record| matches!(
        &record.step,
        Step::ToolCall {
            server: Some(_),
            ..
        }
    )));
    let answered = |step: &Step| matches!(step, Step::ToolResult { output: Some(text), ok: true, .. } if text == "MAGIC-WORD-42");
    assert!(records.iter().any(|record| answered(&record.step)));
}

#[test]
fn names_are_quoted_for_the_shell() {
    assert_eq!(model_arguments("it's"), ["--model", r"'it'\''s'"]);
}
