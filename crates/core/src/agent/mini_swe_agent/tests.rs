use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::agent::conversation::TimeLimit;
use crate::agent::playback::{self, kind, used};
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
fn every_recorded_session() {
    let nothing = Usage {
        tool_calls: Some(0),
        ..Usage::default()
    };
    for (recording, exit, failed, usage, notes) in [
        ("mini-fib.json", 0, None, used(3, 6000, 1200, 153, 3), 0),
        ("mini-401.json", 1, Some(ErrorKind::Auth), nothing, 0),
        ("mini-429.json", 1, Some(ErrorKind::RateLimit), nothing, 0),
        ("mini-500.json", 1, Some(ErrorKind::ModelApi), nothing, 0),
        (
            "mini-refused.json",
            1,
            Some(ErrorKind::ModelApi),
            nothing,
            0,
        ),
        // A model that only talks is given up, which is its own failure.
        ("mini-talk.json", 0, None, used(3, 3000, 600, 150, 0), 1),
        // Interrupted while it was waiting.
        ("mini-sigint.json", 1, Some(ErrorKind::Agent), nothing, 0),
    ] {
        let reading = play(recording, &[], exit);
        assert_eq!(
            kind(&reading.ending),
            failed,
            "{recording}: {:?}",
            reading.ending
        );
        assert_eq!(reading.usage, usage, "{recording}");
        assert_eq!(reading.notes.len(), notes, "{recording}");
    }
    assert_eq!(
        play("mini-fib.json", &[], 0).model.as_deref(),
        Some("mock-mini")
    );
    let said = "litellm.RateLimitError: RateLimitError: OpenAIException - the script says 429";
    let ending = play("mini-429.json", &[], 1).ending;
    assert!(
        matches!(&ending, Ending::Failed(error) if error.message == said),
        "{ending:?}"
    );
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
            "info": { "exit_status": status, "model_stats": { "instance_cost": 0.25 } },
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
    assert_eq!(reading.usage.cost_usd, Some(0.25));
    let reading = play("LimitsExceeded");
    assert_eq!(
        (reading.ending, reading.notes.len()),
        (Ending::Completed, 1)
    );
}

#[test]
fn the_transcript_of_a_session() {
    let records = play("mini-fib.json", &[], 0).records;
    insta::assert_snapshot!(
        records
            .iter()
            .map(|record| serde_json::to_string(record).unwrap())
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn how_it_is_started() {
    let config =
        json!({ "agent": { "step_limit": 5 }, "model": { "model_kwargs": { "temperature": 0 } } });
    let invocation = (AGENT.invocation)(&Inputs {
        model: Some("openai/gpt-5"),
        prompt: "--help {{ me }}\n\u{7f}",
        ..playback::inputs(&[], Some(&config), &BTreeSet::new())
    });
    insta::assert_snapshot!(playback::shown(&invocation));
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
