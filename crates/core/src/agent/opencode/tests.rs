use super::*;
use crate::agent::playback;
use crate::agent::{Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Step};
use crate::trial_error::ErrorKind;

fn play(recording: &str, servers: &[&str], log: &[&str], exit: Exit) -> (Vec<Record>, Reading) {
    let stream = playback::decoder(&AGENT, servers);
    playback::play(stream, recording, log, exit)
}

#[test]
fn the_cost_is_the_sum_and_an_unpriced_model_has_none() {
    let cost = |recording| play(recording, &[], &[], Exit::Code(0)).1.usage.cost_usd;
    assert!((cost("opencode-fib.jsonl").unwrap() - 0.005_226).abs() < 1e-9);
    assert_eq!(cost("opencode-mcp.jsonl"), None);
}

#[test]
fn a_rejected_permission_is_a_note_and_the_work_is_judged() {
    let (_, reading) = play("opencode-rejected.jsonl", &[], &[], Exit::Code(0));
    assert_eq!(reading.ending, Ending::Completed);
    assert_eq!(
        reading.notes,
        ["the permission to use `write` was rejected"]
    );
}

#[test]
fn a_stream_that_stops_has_no_end() {
    let failed =
        |ending: &Ending, kind| matches!(ending, Ending::Failed(error) if error.kind == kind);
    let (_, reading) = play("opencode-fib.jsonl", &[], &[], Exit::Signal(15));
    assert!(
        failed(&reading.ending, ErrorKind::Agent),
        "killed: {:?}",
        reading.ending
    );
    let mut stream = playback::decoder(&AGENT, &[]);
    stream.stdout(Line::Text(
        r#"{"type":"step_finish","part":{"reason":"tool-calls"}}"#,
    ));
    assert!(
        failed(&stream.finish(Exit::Code(0)).ending, ErrorKind::Agent),
        "between two steps"
    );
    let mut stream = playback::decoder(&AGENT, &[]);
    stream.stderr(Line::Text(
        "Error: Unable to connect. Is the computer able to access the url?",
    ));
    assert!(failed(
        &stream.finish(Exit::Code(1)).ending,
        ErrorKind::ModelApi
    ));
}

#[test]
fn the_log_says_what_the_stream_does_not() {
    let unexpected = r#"{"type":"error","error":{"name":"UnknownError","data":{"message":"Unexpected server error."}}}"#;
    let cause = r#"timestamp=0 message=failed ref=err_6 error="ProviderModelNotFoundError: Model not found: mock/none.""#;
    let mut unknown = playback::decoder(&AGENT, &[]);
    unknown.stdout(Line::Text(unexpected));
    unknown.stderr(Line::Text(cause));
    let ending = unknown.finish(Exit::Code(1)).ending;
    assert!(
        matches!(&ending, Ending::Failed(error) if error.message.contains("Model not found: mock/none."))
    );

    let asked = "timestamp=0 message=stream providerID=p modelID=m session.id=ses_1 small=false";
    let refused = r#"timestamp=0 message="stream error" session.id=ses_1 error.error="AI_APICallError: Cannot connect to API""#;
    let mut silent = playback::decoder(&AGENT, &[]);
    for line in [asked, refused, asked, refused] {
        silent.stderr(Line::Text(line));
    }
    assert_eq!(silent.usage().requests, None, "none was answered");
    let ending = silent.finish(Exit::Signal(15)).ending;
    assert!(matches!(ending, Ending::Failed(error) if error.kind == ErrorKind::ModelApi));
}

#[test]
fn an_error_that_was_overcome_is_a_note() {
    let mut stream = playback::decoder(&AGENT, &[]);
    for line in [
        r#"{"type":"error","error":{"name":"APIError","data":{"message":"busy","statusCode":429}}}"#,
        r#"{"type":"step_start","part":{}}"#,
        r#"{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1,"output":2}}}"#,
    ] {
        stream.stdout(Line::Text(line));
    }
    let reading = stream.finish(Exit::Code(0));
    assert_eq!(reading.ending, Ending::Completed);
    assert_eq!(reading.notes, ["busy (HTTP 429)"]);
}

#[test]
fn tools_have_their_server() {
    let asked = "timestamp=0 message=stream providerID=mock modelID=mock-mcp session.id=ses_e2363deb6ffe3r4wzy1Ly0v74i small=false";
    let servers = ["tiny", "tiny_echo", "other"];
    let (records, reading) = play(
        "opencode-mcp.jsonl",
        &servers,
        &[asked, asked],
        Exit::Code(0),
    );
    assert_eq!(reading.usage.requests, Some(2));
    // The longest name that fits.
    let of_echo = |step: &Step| matches!(step, Step::ToolCall { server: Some(name), .. } if name == "tiny_echo");
    assert!(records.iter().any(|record| of_echo(&record.step)));
}

#[test]
fn requests_of_sub_agents_come_from_the_log() {
    let asked = |session| {
        format!(
            "timestamp=0 message=stream providerID=p modelID=m session.id={session} small=false"
        )
    };
    let (parent, child) = (
        asked("ses_e2336121bffeO5hvC87DxPkwQ1"),
        asked("ses_e2336087bffeGu3ageNlgibyaA"),
    );
    let (_, reading) = play(
        "opencode-subagent.jsonl",
        &[],
        &[&parent, &child, &parent],
        Exit::Code(0),
    );
    assert_eq!(reading.usage.requests, Some(3));
    assert_eq!(
        reading.notes,
        ["the tokens of 1 request by sub-agents are not known, so there are none of the session"]
    );
    assert_eq!(reading.usage.input_tokens, None, "a part is not the whole");
}
