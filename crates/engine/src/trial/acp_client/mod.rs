//! The client of the Agent Client Protocol, which runs inside a trial in the place of the agent.
//!
//! `terca __acp-client SETTINGS COMMAND…` reads the prompt from its standard input, starts the agent, asks it for a session and
//! gives it the prompt. It prints what happens on its standard output, one event on a line (read by `core::agent::acp`). To the
//! rest of Terca it is an agent like any other: it is supervised, tailed, limited, contained and killed in the same way.
//!
//! It offers the agent neither files nor terminals. Agents have tools of their own for both, and with them they work as they do
//! without a client. Permissions are given: the sandbox is the limit, as it is for agents that are told to ask for none.
//!
//! The agent may print anything. Lines have a limit, queues have one, and a program that does not speak the protocol is an error
//! that shows its first lines.

mod connection;
mod models;
mod session;
mod sign_in;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use camino::Utf8Path;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use terca_core::process::Exit;
use terca_core::trial_error::ErrorKind;

/// The hidden first argument that makes the program a client. The file with its settings and the agent's command follow.
const CLIENT: &str = "__acp-client";

/// Returns the arguments by which Terca's own program becomes a client that starts this agent.
pub fn arguments(settings: &Utf8Path, program: &Utf8Path, args: Vec<String>) -> Vec<String> {
    let own = [CLIENT, settings.as_str(), program.as_str()].map(str::to_owned);
    own.into_iter().chain(args).collect()
}

/// Becomes a client if the arguments of this process say so. Returns the exit status.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()?.to_str()? != CLIENT {
        return None;
    }
    let rest: Vec<OsString> = args.collect();
    Some(match session::run(&rest) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Prints an event with these fields on a line of its own. A full disk is no reason to leave the agent alone.
fn print(kind: &str, mut event: Value) {
    event["type"] = json!(kind);
    event["time"] = json!(Timestamp::now().as_millisecond());
    let mut output = io::stdout().lock();
    let _ = writeln!(output, "{event}").and_then(|()| output.flush());
}

/// The reason why a session cannot go on.
#[derive(Debug, Default, Serialize)]
struct Failure {
    code: Option<i64>,
    kind: Option<ErrorKind>,
    message: String,
    exit: Option<Exit>,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Failure {
            message: message.into(),
            ..Failure::default()
        }
    }

    fn of_kind(kind: ErrorKind, message: impl Into<String>) -> Self {
        Failure {
            kind: Some(kind),
            ..Failure::new(message)
        }
    }
}
