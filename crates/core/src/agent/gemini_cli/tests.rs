use super::*;
use crate::agent::playback;
use crate::agent::{Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage};
use crate::trial_error::ErrorKind;

fn play(recording: &str, servers: &[&str], stderr: &[&str], exit: i32) -> (Vec<Record>, Reading) {
    let stream = playback::decoder(&AGENT, servers);
    playback::play(stream, recording, stderr, Exit::Code(exit))
}

#[test]
fn the_limit_of_turns_is_a_note_and_the_work_is_judged() {
    let (_, reading) = play("gemini-max-turns.jsonl", &[], &[], 53);
    assert_eq!(reading.ending, Ending::Completed);
    assert!(reading.notes[0].contains("max session turns"));
    assert_eq!(reading.usage.input_tokens, Some(2100));
}

#[test]
fn a_stream_without_a_result_has_no_end() {
    let mut stream = playback::decoder(&AGENT, &[]);
    stream.stdout(Line::Text(r#"{"type":"init","model":"m"}"#));
    assert!(
        matches!(stream.finish(Exit::Code(0)).ending, Ending::Failed(error) if error.kind == ErrorKind::Agent)
    );
    let mut stream = playback::decoder(&AGENT, &[]);
    stream.stderr(Line::Text("Invalid auth method selected."));
    assert!(
        matches!(stream.finish(Exit::Code(41)).ending, Ending::Failed(error) if error.kind == ErrorKind::Auth)
    );
}

#[test]
fn figures_come_from_the_result_and_requests_from_the_session() {
    let mut stream = playback::decoder(&AGENT, &[]);
    for line in [
        r#"{"id":"a","type":"gemini","tokens":{"input":1000,"output":50,"cached":400,"thoughts":7,"tool":0,"total":1057},"model":"gemini-2.5-pro"}"#,
        r#"{"id":"a","type":"gemini","tokens":{"input":1000,"output":50,"cached":400,"thoughts":7,"tool":0,"total":1057},"model":"gemini-2.5-pro","toolCalls":[]}"#,
        r#"{"id":"u","type":"user","content":"x"}"#,
        r#"{"id":"b","type":"gemini","tokens":{"input":1100,"output":51,"cached":410,"thoughts":7,"tool":0,"total":1158},"model":"gemini-2.5-pro"}"#,
        r#"{"$set":{"x":1}}"#,
    ] {
        stream.side_line("session.jsonl", line);
    }
    let reading = stream.finish(Exit::Signal(15));
    assert_eq!(
        reading.usage,
        Usage {
            requests: Some(2),
            input_tokens: Some(2100),
            cached_input_tokens: Some(810),
            output_tokens: Some(115),
            tool_calls: Some(0),
            cost_usd: None
        }
    );
    assert_eq!(
        reading.model, None,
        "the session file has what was asked for"
    );

    let (_, reading) = play("gemini-success.jsonl", &[], &[], 0);
    assert_eq!(reading.usage.input_tokens, Some(3333));
    assert_eq!(reading.usage.output_tokens, Some(177));
    assert_eq!(
        reading.usage.requests, None,
        "the stream does not say, so nobody knows"
    );
    assert_eq!(
        reading.model.as_deref(),
        Some("gemini-3.1-pro-preview"),
        "not the router's"
    );
}

#[test]
fn a_failed_session_reports_no_zeros() {
    let (_, reading) = play("gemini-401.jsonl", &[], &[], 145);
    assert_eq!(reading.usage.input_tokens, None);
}

#[test]
fn pieces_of_a_message_are_joined() {
    let mut stream = playback::decoder(&AGENT, &[]);
    let piece = |text: &str| {
        format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#)
    };
    assert!(stream.stdout(Line::Text(&piece("Hel"))).is_empty());
    assert!(stream.stdout(Line::Text(&piece("lo"))).is_empty());
    let records = stream.stdout(Line::Text(
        r#"{"type":"tool_use","tool_name":"ls","parameters":{"path":"."}}"#,
    ));
    assert_eq!(
        records[0].step,
        Step::Message {
            role: Role::Assistant,
            text: "Hello".into()
        }
    );
    assert_eq!((records[0].line, records[1].line), (1, 3));
}
