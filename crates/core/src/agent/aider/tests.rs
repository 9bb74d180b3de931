use serde_json::json;

use super::*;
use crate::agent::playback::{self, kind};
use crate::agent::{Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::Record;
use crate::trial_error::ErrorKind;

/// A session as it was recorded: what it printed, and its log up to so many lines.
fn play(recording: &str, lines: usize, exit: i32) -> (Vec<Record>, Reading) {
    let mut stream = playback::decoder(&AGENT, &[]);
    for line in playback::recorded(&format!("{recording}.jsonl"))
        .lines()
        .take(lines)
    {
        stream.side_line(ANALYTICS, line);
    }
    playback::play(stream, &format!("{recording}.txt"), &[], Exit::Code(exit))
}

/// Killed at any moment, it has not come to its end. What it had done by then may be judged once it was answered.
#[test]
fn a_session_that_stops_has_no_end() {
    for lines in [0, 3, 4, 5] {
        let (_, reading) = play("aider-fib", lines, 143);
        assert_eq!(
            kind(&reading.ending),
            Some(ErrorKind::Agent),
            "after {lines} lines"
        );
    }
    // While it was trying again and again.
    assert_eq!(
        kind(&play("aider-500", 4, 143).1.ending),
        Some(ErrorKind::ModelApi)
    );
}

#[test]
fn it_says_why_it_does_not_start() {
    for (line, reason, expected) in [
        (
            "No LLM model was specified and no API keys were provided.",
            None,
            ErrorKind::Auth,
        ),
        (
            "Unknown edit format nonsense.",
            Some("Unknown edit format"),
            ErrorKind::Agent,
        ),
        // A prompt that was taken for a command: nobody was asked.
        (
            "Invalid command: /nonsense",
            Some("Completed --message-file"),
            ErrorKind::Agent,
        ),
    ] {
        let mut stream = playback::decoder(&AGENT, &[]);
        stream.stdout(Line::Text(line));
        if let Some(reason) = reason {
            let event = json!({ "event": "exit", "properties": { "reason": reason } });
            stream.side_line(ANALYTICS, &event.to_string());
        }
        let ending = stream.finish(Exit::Code(1)).ending;
        assert_eq!(kind(&ending), Some(expected), "{line}");
        assert!(
            matches!(&ending, Ending::Failed(error) if error.message.ends_with(line)),
            "{ending:?}"
        );
    }
}

/// Not every service has a name for every error.
#[test]
fn errors_are_told_by_their_names_and_words() {
    for (line, expected) in [
        (
            "litellm.PermissionDeniedError: PermissionDeniedError: no",
            ErrorKind::Auth,
        ),
        (
            "litellm.APIError: APIError: OpenAIException - 403 Forbidden",
            ErrorKind::Auth,
        ),
        (
            "litellm.APIError: APIError: OpenAIException - odd",
            ErrorKind::ModelApi,
        ),
        (
            "litellm.NotFoundError: NotFoundError: no such model",
            ErrorKind::ModelApi,
        ),
        ("litellm.Timeout: Timeout: too late", ErrorKind::ModelApi),
    ] {
        assert_eq!(kind_of(line), expected, "{line}");
    }
    assert_eq!(error_name("litellm.completion(model: x)"), None);
}
