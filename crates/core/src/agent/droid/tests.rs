use serde_json::json;

use super::*;
use crate::agent::playback::{self, kind};
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::Step;
use crate::trial_error::ErrorKind;

const COMPLETE: &str = r#"{"type":"completion","numTurns":1,"usage":{"input_tokens":600,"output_tokens":57,"cache_read_input_tokens":400}}"#;

fn stream(servers: &[&str]) -> Decoder {
    playback::decoder(&AGENT, servers)
}

fn read(stdout: &[&str], stderr: &[&str], exit: i32) -> Reading {
    let mut stream = stream(&[]);
    for line in stdout {
        stream.stdout(Line::Text(line));
    }
    for line in stderr {
        stream.stderr(Line::Text(line));
    }
    stream.finish(Exit::Code(exit))
}

/// Words of its own, as they were seen.
#[test]
fn trouble_has_a_name() {
    let failed = |source: &str, message: &str| {
        json!({ "type": "error", "source": source, "message": message }).to_string()
    };
    for (source, message, expected) in [
        ("agent_loop", "429 mock error 429", ErrorKind::RateLimit),
        ("agent_loop", "500 mock error 500", ErrorKind::ModelApi),
        ("agent_loop", "403 status code (no body)", ErrorKind::Auth),
        ("agent_loop", "Connection error.", ErrorKind::ModelApi),
        (
            "cli",
            "Error: Authentication failed. Please log in using /login or set a valid FACTORY_API_KEY environment variable.",
            ErrorKind::Auth,
        ),
        ("cli", "Exec failed", ErrorKind::Agent),
    ] {
        let lines = [failed(source, message), failed("cli", "Exec failed")];
        let reading = read(&[&lines[0], &lines[1]], &[], 1);
        assert_eq!(kind(&reading.ending), Some(expected), "{message}");
    }
    let reading = read(&[&failed("agent_loop", "500 busy"), COMPLETE], &[], 0);
    assert_eq!(reading.ending, Ending::Completed, "it went on after all");
    assert_eq!(reading.notes, ["500 busy"]);
}

#[test]
fn a_session_that_stops_has_no_end() {
    let said = r#"{"type":"message","role":"assistant","id":"1","text":"Hello."}"#;
    let reading = read(&[said], &[], 0);
    assert_eq!(kind(&reading.ending), Some(ErrorKind::Agent));
    let ending = read(&[], &["Invalid model: custom:None-4"], 1).ending;
    assert!(
        matches!(ending, Ending::Failed(error) if error.message.ends_with("Invalid model: custom:None-4"))
    );
}

#[test]
fn the_tool_of_a_server_is_known() {
    let call = r#"{"type":"tool_call","id":"1","messageId":"m","toolName":"my_server___magic","parameters":{"x":42}}"#;
    let records = stream(&["my.server"]).stdout(Line::Text(call));
    assert!(
        matches!(&records[0].step, Step::ToolCall { server: Some(name), .. } if name == "my.server")
    );
}

#[test]
fn names_are_encoded_for_a_selector() {
    assert_eq!(in_url("a,b/c d-e_f.ä"), "a%2Cb%2Fc%20d-e_f.%C3%A4");
}
