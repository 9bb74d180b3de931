use serde_json::json;

use super::*;
use crate::agent::playback::{self, kind};
use crate::agent::{Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::Step;
use crate::trial_error::ErrorKind;

/// Lines on standard output, and then some on standard error.
fn read(stdout: &[&str], stderr: &[&str], exit: Exit) -> Reading {
    let mut stream = playback::decoder(&AGENT, &[]);
    for line in stdout {
        stream.stdout(Line::Text(line));
    }
    for line in stderr {
        stream.stderr(Line::Text(line));
    }
    stream.finish(exit)
}

const END: &str = r#"{"type":"agent_end","messages":[]}"#;
const STOP: &str = r#"{"type":"message_end","message":{"role":"assistant","content":[],"usage":{"input":1,"output":2},"stopReason":"stop"}}"#;

fn failed(message: &str) -> String {
    let message = json!({ "role": "assistant", "stopReason": "error", "errorMessage": message });
    json!({ "type": "message_end", "message": message }).to_string()
}

#[test]
fn trouble_has_a_name() {
    for (message, expected) in [
        ("401 mock invalid api key", ErrorKind::Auth),
        ("403 status code (no body)", ErrorKind::Auth),
        ("429 slow down", ErrorKind::RateLimit),
        ("503 status code (no body)", ErrorKind::ModelApi),
        ("Connection error.", ErrorKind::ModelApi),
        ("404 no such model", ErrorKind::Model),
        (
            r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#,
            ErrorKind::RateLimit,
        ),
    ] {
        let reading = read(&[&failed(message), END], &[], Exit::Code(0));
        assert_eq!(kind(&reading.ending), Some(expected), "{message}");
    }
}

#[test]
fn an_error_that_was_overcome_is_a_note() {
    let start = r#"{"type":"agent_start"}"#;
    let reading = read(
        &[start, &failed("500 busy"), END, start, STOP, END],
        &[],
        Exit::Code(0),
    );
    assert_eq!(reading.ending, Ending::Completed);
    assert_eq!(reading.notes, ["500 busy"]);
}

#[test]
fn a_session_that_stops_has_no_end() {
    let start = r#"{"type":"agent_start"}"#;
    for (stdout, stderr, exit, expected) in [
        (
            &[start, STOP][..],
            &[][..],
            Exit::Code(143),
            ErrorKind::Agent,
        ),
        // It had begun again.
        (
            &[start, STOP, END, start],
            &[],
            Exit::Signal(9),
            ErrorKind::Agent,
        ),
        (
            &[],
            &[
                "No API key found for anthropic.",
                "",
                "Use /login to log into a provider via OAuth or API key. See:",
            ],
            Exit::Code(1),
            ErrorKind::Auth,
        ),
        (
            &[],
            &["Warning: x", "No models available. Use /login"],
            Exit::Code(1),
            ErrorKind::Auth,
        ),
        (&[], &[], Exit::Code(0), ErrorKind::Agent),
    ] {
        let reading = read(stdout, stderr, exit);
        assert_eq!(
            kind(&reading.ending),
            Some(expected),
            "{stdout:?} {stderr:?}: {:?}",
            reading.ending
        );
    }
}

#[test]
fn the_reason_is_told_and_the_advice_is_not() {
    let said = [
        "No API key found for anthropic.",
        "Use /login to log into a provider via OAuth or API key. See:",
    ];
    let Ending::Failed(error) = read(&[], &said, Exit::Code(1)).ending else {
        panic!("no error")
    };
    assert_eq!(
        error.message,
        "the session broke off: No API key found for anthropic."
    );
}

#[test]
fn an_end_too_long_to_hold_is_one() {
    let mut stream = playback::decoder(&AGENT, &[]);
    stream.stdout(Line::Text(STOP));
    let beginning = r#"{"type":"message_update","message":{"#;
    assert!(
        stream
            .stdout(Line::Oversized {
                beginning,
                bytes: 1 << 40
            })
            .is_empty()
    );
    let beginning = r#"{"type":"agent_end","messages":[{"#;
    assert!(
        stream
            .stdout(Line::Oversized {
                beginning,
                bytes: 1 << 40
            })
            .is_empty()
    );
    let notice = stream.stdout(Line::Oversized {
        beginning: r#"{"type":"message_end""#,
        bytes: 1 << 40,
    });
    assert!(matches!(notice[0].step, Step::Notice { .. }));
    assert_eq!(stream.finish(Exit::Code(0)).ending, Ending::Completed);
}
