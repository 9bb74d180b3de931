use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::agent::playback::{self, kind};
use crate::agent::{Decoder, Ending, Line};
use crate::process::Exit;
use crate::transcript::Step;
use crate::trial_error::ErrorKind;

fn stream(servers: &[&str]) -> Decoder {
    playback::decoder(&AGENT, servers)
}

/// Words of goose's own, as they were seen.
#[test]
fn goose_speaks_for_itself() {
    for (text, failed, notes) in [
        (
            "Ran into this error: Rate limit exceeded: mock error 429.",
            Some(ErrorKind::RateLimit),
            0,
        ),
        (
            "Network error: Could not connect to 127.0.0.1:9 — check your network.",
            Some(ErrorKind::ModelApi),
            0,
        ),
        (
            "Ran into this error: something new.",
            Some(ErrorKind::ModelApi),
            0,
        ),
        (
            "I've reached the maximum number of actions I can do without user input.",
            None,
            1,
        ),
    ] {
        let content = json!([{ "type": "text", "text": text }]);
        let message =
            json!({ "type": "message", "message": { "role": "assistant", "content": content } });
        let mut stream = stream(&[]);
        stream.stdout(Line::Text(&message.to_string()));
        let tokens = if failed.is_none() { 7 } else { 0 };
        let complete = json!({ "type": "complete", "total_tokens": tokens,
            "input_tokens": tokens, "output_tokens": tokens });
        stream.stdout(Line::Text(&complete.to_string()));
        let reading = stream.finish(Exit::Code(0));
        assert_eq!(kind(&reading.ending), failed, "{text}");
        assert_eq!(reading.notes.len(), notes, "{text}");
    }
}

/// Goose takes a stream that is cut for a good answer.
#[test]
fn an_answer_that_broke_off_is_no_end() {
    for (tokens, failed) in [(0, Some(ErrorKind::ModelApi)), (7, None)] {
        let mut stream = stream(&[]);
        let message = json!({ "type": "message", "message": { "role": "assistant",
            "content": [{ "type": "text", "text": "I will" }],
            "metadata": { "inference": { "provider": "openai", "requestedModel": "m" } } } });
        stream.stdout(Line::Text(&message.to_string()));
        let complete = json!({ "type": "complete", "total_tokens": tokens,
            "input_tokens": tokens, "output_tokens": tokens });
        stream.stdout(Line::Text(&complete.to_string()));
        let reading = stream.finish(Exit::Code(0));
        assert_eq!(kind(&reading.ending), failed, "{tokens}");
    }
}

#[test]
fn a_session_that_stops_has_no_end() {
    let mut interrupted = stream(&[]);
    interrupted.stdout(Line::Text(
        r#"{"type":"error","error":"Headless run interrupted"}"#,
    ));
    assert_eq!(
        kind(&interrupted.finish(Exit::Code(1)).ending),
        Some(ErrorKind::Agent)
    );
    for (line, expected) in [
        (
            "  error: No provider configured. Run 'goose configure' first.",
            ErrorKind::Auth,
        ),
        (
            "  error: Error Configuration value not found: ANTHROPIC_API_KEY.",
            ErrorKind::Auth,
        ),
        ("  error: Error Unknown provider: nosuch.", ErrorKind::Agent),
    ] {
        let mut unset = stream(&[]);
        unset.stdout(Line::Text(line));
        let ending = unset.finish(Exit::Code(1)).ending;
        let said = line.trim_start_matches("  error: ");
        assert!(
            matches!(&ending, Ending::Failed(error) if error.message.ends_with(said)),
            "{ending:?}"
        );
        assert_eq!(kind(&ending), Some(expected));
    }
    assert_eq!(
        kind(&stream(&[]).finish(Exit::Code(0)).ending),
        Some(ErrorKind::Agent)
    );
}

#[test]
fn tools_have_their_server_and_one_by_sse_is_an_error() {
    let mut stream = stream(&["My.Server x"]);
    let call = json!({
        "type": "toolRequest", "id": "1", "_meta": { "goose_extension": "my_serverx" },
        "toolCall": { "status": "success", "value": { "name": "my_serverx__echo_tool", "arguments": {} } },
    });
    let message = json!({
        "role": "assistant", "content": [call],
        "metadata": { "inference": { "provider": "p", "requestedModel": "m" } },
    });
    let records = stream.stdout(Line::Text(
        &json!({ "type": "message", "message": message }).to_string(),
    ));
    assert!(
        matches!(&records[0].step, Step::ToolCall { server: Some(name), .. } if name == "My.Server x")
    );
    let mut stream = AGENT.decoder(&playback::inputs(
        &[("old".to_owned(), playback::by_sse())],
        None,
        &BTreeSet::new(),
    ));
    stream.stdout(Line::Text(r#"{"type":"complete","total_tokens":12}"#));
    let reading = stream.finish(Exit::Code(0));
    assert_eq!(kind(&reading.ending), Some(ErrorKind::Mcp));
}

#[test]
fn a_model_needs_no_provider() {
    assert_eq!(model_variables("gpt-5"), [("GOOSE_MODEL", "gpt-5")]);
}
