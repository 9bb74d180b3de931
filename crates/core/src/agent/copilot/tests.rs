use camino::Utf8Path;
use serde_json::json;

use super::*;
use crate::agent::playback::{self, kind, used};
use crate::agent::{Decoder, Ending, Line};
use crate::process::Exit;
use crate::transcript::Step;
use crate::trial_error::ErrorKind;

fn stream(servers: &[&str]) -> Decoder {
    playback::decoder(&AGENT, servers)
}

#[test]
fn the_log_has_the_figures_and_those_of_sub_agents() {
    let log =
        Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams/copilot-subagent-log.jsonl");
    let mut stream = stream(&[]);
    for line in std::fs::read_to_string(log).unwrap().lines() {
        stream.side_line("session.jsonl", line);
    }
    let (_, reading) = playback::play(stream, "copilot-subagent.jsonl", &[], Exit::Code(0));
    assert_eq!(reading.usage, used(3, 3100, 1210, 172, 1));
    assert_eq!(reading.ending, Ending::Completed);
}

#[test]
fn summaries_of_the_conversation_are_counted_or_nothing_is() {
    let start = r#"{"type":"session.compaction_start","data":{"compactionAttemptId":"a","currentTokens":398089,"tokenLimit":400000}}"#;
    let complete = r#"{"type":"session.compaction_complete","data":{"success":false,"outcome":"cancelled","compactionTokensUsed":{"requestCount":2,"inputTokens":2300,"outputTokens":117,"cacheReadTokens":830,"cacheWriteTokens":0}}}"#;
    let record = r#"{"type":"session.usage_record","data":{"usage":{"inputTokens":1000,"outputTokens":57,"cacheReadTokens":400}}}"#;
    let read = |lines: &[&str]| {
        let mut stream = stream(&[]);
        for line in lines {
            stream.side_line("session.jsonl", line);
        }
        stream.finish(Exit::Code(0))
    };
    let whole = read(&[record, start, complete]);
    assert_eq!(whole.usage, used(3, 3300, 1230, 174, 0));
    let killed = read(&[record, start]);
    assert_eq!(
        (killed.usage.requests, killed.usage.input_tokens),
        (None, None)
    );
    assert_eq!(killed.notes.len(), 1);
}

#[test]
fn errors_have_their_names() {
    for (error, expected) in [
        (
            json!({ "errorType": "rate_limit", "message": "x", "statusCode": 429 }),
            ErrorKind::RateLimit,
        ),
        (
            json!({ "errorType": "authentication", "message": "x", "statusCode": 403 }),
            ErrorKind::Auth,
        ),
        (
            json!({ "errorType": "query", "message": "x", "statusCode": 404 }),
            ErrorKind::ModelApi,
        ),
        (
            json!({ "errorType": "query", "message": "Connection refused" }),
            ErrorKind::ModelApi,
        ),
        (
            json!({ "errorType": "other", "message": "something new" }),
            ErrorKind::Agent,
        ),
    ] {
        let mut stream = stream(&[]);
        let event = json!({ "type": "session.error", "data": error });
        stream.stdout(Line::Text(&event.to_string()));
        stream.stdout(Line::Text(r#"{"type":"result","exitCode":1}"#));
        assert_eq!(
            kind(&stream.finish(Exit::Code(1)).ending),
            Some(expected),
            "{error}"
        );
    }
}

#[test]
fn a_session_without_a_result_has_no_end() {
    let mut unsigned = stream(&[]);
    unsigned.stderr(Line::Text("Error: No authentication information found."));
    unsigned.stderr(Line::Text(
        "Copilot can be authenticated with GitHub using an OAuth token.",
    ));
    let ending = unsigned.finish(Exit::Code(1)).ending;
    assert_eq!(kind(&ending), Some(ErrorKind::Auth));
    assert!(matches!(&ending, Ending::Failed(error)
        if error.message == "the session broke off: No authentication information found."));
    assert_eq!(
        kind(&stream(&[]).finish(Exit::Signal(9)).ending),
        Some(ErrorKind::Agent)
    );
}

#[test]
fn an_error_that_was_overcome_is_a_note() {
    let mut stream = stream(&[]);
    for line in [
        r#"{"type":"session.error","data":{"errorType":"query","message":"busy\nTry later.","statusCode":500}}"#,
        r#"{"type":"assistant.message","data":{"content":"Done.","model":"m"}}"#,
        r#"{"type":"result","exitCode":0}"#,
    ] {
        stream.stdout(Line::Text(line));
    }
    let reading = stream.finish(Exit::Code(0));
    assert_eq!(reading.ending, Ending::Completed);
    assert_eq!(reading.notes, ["busy"]);
}

#[test]
fn the_tool_of_a_server_is_known() {
    let call = r#"{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"my_server-magic","arguments":{},"mcpServerName":"my_server","mcpConfigServerName":"my server"}}"#;
    let records = stream(&["my server"]).stdout(Line::Text(call));
    assert!(
        matches!(&records[0].step, Step::ToolCall { server: Some(name), .. } if name == "my server")
    );
}
