use std::time::Duration;

use serde_json::json;

use super::*;
use crate::agent::conversation::TimeLimit;
use crate::agent::playback::{self, kind};
use crate::agent::{Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::Usage;
use crate::trial_error::ErrorKind;

fn play(recording: &str, stdout: &[&str], exit: i32) -> Reading {
    let mut decoder = playback::decoder(&AGENT, &[]);
    for line in stdout {
        assert_eq!(decoder.stdout(Line::Text(line)), []);
    }
    if !recording.is_empty() {
        for line in playback::recorded(recording).lines() {
            decoder.side_line(TRAJECTORY, line);
        }
    }
    decoder.finish(Exit::Code(exit))
}

#[test]
fn a_session_without_a_trajectory_ends_with_its_last_words() {
    const RETRY: &str =
        "Retrying <unknown> in 4 seconds as it raised RateLimitError: litellm.RateLimitError: no.";
    for (stdout, failed) in [
        (&["ValueError: No default model set."][..], ErrorKind::Agent),
        (&[RETRY], ErrorKind::RateLimit),
        // It was answered in the end.
        (
            &[RETRY, "mini-swe-agent (step 1, $0.00):"],
            ErrorKind::Agent,
        ),
        (&[], ErrorKind::Agent),
    ] {
        let reading = play("", stdout, 1);
        assert_eq!(kind(&reading.ending), Some(failed), "{stdout:?}");
        assert_eq!(reading.usage, Usage::default());
    }
    let ending = play("", &["ValueError: No default model set."], 1).ending;
    let said = "the session broke off: ValueError: No default model set.";
    assert!(
        matches!(&ending, Ending::Failed(error) if error.message == said),
        "{ending:?}"
    );
}

#[test]
fn half_a_trajectory_is_a_note() {
    let mut decoder = playback::decoder(&AGENT, &[]);
    decoder.side_line(TRAJECTORY, "{\"info\": {");
    let reading = decoder.finish(Exit::Code(1));
    assert_eq!(kind(&reading.ending), Some(ErrorKind::Agent));
    assert_eq!(reading.notes.len(), 1, "{:?}", reading.notes);
}

#[test]
fn an_exception_of_its_own_is_a_crash_and_limits_are_notes() {
    let play = |status: &str| {
        let document = json!({
            "info": { "exit_status": status },
            "messages": [{ "role": "exit", "content": "why" }],
        });
        let mut decoder = playback::decoder(&AGENT, &[]);
        decoder.side_line(TRAJECTORY, &document.to_string());
        decoder.finish(Exit::Code(1))
    };
    let reading = play("ZeroDivisionError");
    assert!(
        matches!(&reading.ending, Ending::Crashed(error) if error.message == "ZeroDivisionError: why")
    );
    let reading = play("LimitsExceeded");
    assert_eq!(
        (reading.ending, reading.notes.len()),
        (Ending::Completed, 1)
    );
}

/// It prints an answer when it comes, and the result of its command when that is over.
#[test]
fn a_service_that_falls_silent_is_told_from_a_command_that_hangs() {
    let end = TimeLimit {
        limit: Duration::from_secs(60),
        silence: Duration::from_secs(50),
        tool_was_running: false,
    };
    let fault = |printed: &[&str]| {
        let reading = play("", printed, 1);
        let fault = reading.conversation.fault_at_time_limit(end, false, true);
        fault.map(|error| error.kind)
    };
    let answer = ["mini-swe-agent (step 1, $0.00):", "Writing the file."];
    assert_eq!(fault(&answer), None, "its command is at work");
    let result = ["", "Tool:", "<returncode>", "0"];
    let then = [answer.as_slice(), &result].concat();
    assert_eq!(fault(&then), Some(ErrorKind::ModelApi));
    let again = [then.as_slice(), &answer].concat();
    assert_eq!(fault(&again), None);
}
