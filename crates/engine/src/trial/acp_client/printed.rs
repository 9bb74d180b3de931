//! The events that the client prints.

use std::io::{self, Write};

use jiff::Timestamp;
use terca_core::agent::acp::{Event, Stage};
use terca_core::process::Exit;
use terca_core::trial_error::ErrorKind;

/// Prints an event on a line of its own. A full disk is no reason to leave the agent alone.
pub(super) fn print(event: &Event) {
    let Ok(mut line) = serde_json::to_vec(event) else {
        return;
    };
    line.push(b'\n');
    let mut output = io::stdout().lock();
    let _ = output.write_all(&line).and_then(|()| output.flush());
}

/// Returns the time of an event.
pub(super) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// The reason why a session cannot go on.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: Option<i64>,
    pub(super) kind: Option<ErrorKind>,
    pub(super) message: String,
    pub(super) exit: Option<Exit>,
}

impl Failure {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Failure {
            code: None,
            kind: None,
            message: message.into(),
            exit: None,
        }
    }

    pub(super) fn of_kind(kind: ErrorKind, message: impl Into<String>) -> Self {
        Failure {
            kind: Some(kind),
            ..Failure::new(message)
        }
    }

    pub(super) fn print(self, stage: Stage) {
        print(&Event::Failed {
            time: now(),
            stage,
            code: self.code,
            kind: self.kind,
            message: self.message,
            exit: self.exit,
        });
    }
}
