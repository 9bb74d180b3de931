//! The text that an agent ends its session with.

use std::io::{self, BufRead, BufReader};

use camino::Utf8Path;
use terca_core::agent::Profile;
use terca_core::transcript::{Record, Role, Step};

use crate::process::output_file::read_text;
use crate::tree::Dir;

/// The artifact with the output of an agent that prints no stream of events.
pub(super) const STDOUT_LOG: &str = "stdout.log";

/// Returns what an agent said at its end: after its last tool call, or all that it printed where its steps are not
/// known. The text is empty where there was no session.
pub(in crate::trial) fn last_words(
    profile: &Profile,
    transcript: &Utf8Path,
    artifacts: &Utf8Path,
) -> io::Result<String> {
    if profile.streams_events {
        let message = last_message(transcript)?;
        if !message.is_empty() {
            return Ok(message);
        }
    }
    read_stdout(artifacts)
}

/// Reads what an agent printed. Tests run its work and can write to the directory: a link or a pipe there is no output, and
/// leads nowhere.
pub(in crate::trial) fn read_stdout(artifacts: &Utf8Path) -> io::Result<String> {
    let opened = Dir::open_no_link(artifacts).and_then(|dir| dir.open_file(STDOUT_LOG));
    match opened {
        Ok(file) => read_text(&file),
        Err(_) => Ok(String::new()),
    }
}

fn last_message(transcript: &Utf8Path) -> io::Result<String> {
    let mut said = Vec::new();
    let mut tool_was_called = false;
    let file = match fs_err::File::open(transcript) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        file => file?,
    };
    for line in BufReader::new(file).lines() {
        match serde_json::from_str::<Record>(&line?)?.step {
            Step::Message {
                role: Role::Assistant,
                text,
            } => {
                if std::mem::take(&mut tool_was_called) {
                    said.clear();
                }
                said.push(text);
            }
            Step::ToolCall { .. } | Step::ToolResult { .. } => tool_was_called = true,
            _ => {}
        }
    }
    Ok(said.join("\n"))
}
