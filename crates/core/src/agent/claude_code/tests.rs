use super::*;
use crate::agent::playback::{self, kind};
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Step, Usage};
use crate::trial_error::ErrorKind;

fn stream(servers: &[&str]) -> Decoder {
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
fn a_prompt_that_looks_like_a_command_is_none() {
    assert_eq!(Stdin::no_command("Fix / and /tmp"), Stdin::Prompt);
    assert_eq!(
        Stdin::no_command("/init the project"),
        Stdin::Text("\n/init the project".into())
    );
}
