use std::time::Duration;

use super::*;
use crate::agent::playback::{self, used};
use crate::agent::{Decoder, Ending, Line, TimeLimit};
use crate::process::Exit;
use crate::trial_error::ErrorKind;

fn stream(servers: &[&str]) -> Decoder {
    playback::decoder(&AGENT, servers)
}

#[test]
fn a_limit_is_a_note_and_the_work_is_judged() {
    for (code, completed) in [(53, true), (55, true), (1, false)] {
        let mut stream = stream(&[]);
        stream.stderr(Line::Text("Reached max session turns for this session."));
        let reading = stream.finish(Exit::Code(code));
        assert_eq!(reading.ending == Ending::Completed, completed, "{code}");
        assert_eq!(reading.notes.len(), usize::from(completed));
    }
}

#[test]
fn requests_come_from_the_session_file_even_of_a_killed_session() {
    let answer = |uuid: &str, input: u64| {
        format!(
            r#"{{"uuid":"{uuid}","type":"system","subtype":"ui_telemetry","systemPayload":{{"uiEvent":{{"event.name":"qwen-code.api_response","model":"m","input_token_count":{input},"output_token_count":50,"cached_content_token_count":200,"thoughts_token_count":7}}}}}}"#
        )
    };
    let mut stream = stream(&[]);
    for line in [
        &answer("a", 1000),
        &answer("a", 1000),
        &answer("b", 2000),
        r#"{"uuid":"c","type":"user"}"#,
    ] {
        stream.side_line("session.jsonl", line);
    }
    let reading = stream.finish(Exit::Signal(15));
    assert_eq!(reading.usage, used(2, 3000, 400, 100, 0));
    assert!(matches!(reading.ending, Ending::Failed(error) if error.kind == ErrorKind::Agent));
}

/// Each answer broke off, and the words of it are shown before the next try.
#[test]
fn an_answer_that_breaks_off_until_the_limit_is_the_services_fault() {
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":0,"output_tokens":0}}}"#;
    let retry = r#"{"type":"system","subtype":"retry","data":{"reason":"retry","discardedToolCalls":0,"preserveText":false}}"#;
    let end = TimeLimit {
        limit: Duration::from_secs(20),
        silence: Duration::from_secs(1),
        tool_was_running: false,
    };
    for (lines, is_fault) in [(&[said, retry][..], true), (&[said, retry, said], false)] {
        let mut stream = stream(&[]);
        for line in lines {
            stream.stdout(Line::Text(line));
        }
        let reading = stream.finish(Exit::Signal(15));
        let fault = reading.conversation.fault_at_time_limit(end, false, false);
        assert_eq!(fault.is_some(), is_fault, "{lines:?}");
    }
}

#[test]
fn a_prompt_runs_no_command() {
    assert_eq!(Stdin::no_command("- x"), Stdin::Prompt);
    assert_eq!(
        Stdin::no_command("/review x"),
        Stdin::Text("\n/review x".into())
    );
}
