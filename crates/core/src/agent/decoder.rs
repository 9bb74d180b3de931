//! How an agent's output is read.

use std::collections::BTreeMap;

use super::flood::Aside;
use crate::agent::delivery::McpDelivery;
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage};
use crate::trial_error::TrialError;

/// A line of the agent's output.
#[derive(Debug, Clone, Copy)]
pub enum Line<'a> {
    Text(&'a str),
    /// Too long to hold: how it begins, and how long it is.
    Oversized {
        beginning: &'a str,
        bytes: u64,
    },
}

impl<'a> Line<'a> {
    pub(super) fn bytes(self) -> u64 {
        match self {
            Line::Text(text) => text.len() as u64,
            Line::Oversized { bytes, .. } => bytes,
        }
    }

    /// The line as an event to be decoded, or what is said of one that is too long for that.
    pub(super) fn event(self) -> Result<&'a str, Step> {
        match self {
            Line::Text(text) => Ok(text),
            Line::Oversized { bytes, .. } => Err(Step::Notice {
                text: format!("an event of {bytes} bytes was not decoded"),
            }),
        }
    }
}

/// Reads an agent's output, a line at a time.
pub trait Decoder: Send {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record>;
    /// What a line of standard output is, by its beginning, if it is nothing that a count, a figure or an ending rests
    /// on. Of a [`Flood`](super::Flood) of such lines not all are handed over.
    fn aside(&self, _beginning: &[u8]) -> Option<Aside> {
        None
    }
    /// So many of them were not. What was held back until now is handed on.
    fn passed_over(&mut self, _lines: u64) -> Vec<Record> {
        Vec::new()
    }
    fn stderr(&mut self, _line: Line<'_>) {}
    /// A line of one of the [`SideFile`](super::SideFile)s, read after the agent has ended.
    fn side_line(&mut self, _label: &str, _line: &str) {}
    /// What has been used so far, for the live display.
    fn usage(&self) -> Usage;
    fn finish(self: Box<Self>, exit: Exit) -> Reading;
}

/// What a session came to, according to the agent's own output.
#[derive(Debug)]
pub struct Reading {
    /// Steps that were held back until now.
    pub records: Vec<Record>,
    pub usage: Usage,
    pub model: Option<String>,
    pub mcp_servers: BTreeMap<String, McpDelivery>,
    pub ending: Ending,
    pub notes: Vec<String>,
}

/// How a session ended. Exit status 0 alone is not success.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// The session came to its end; the work can be judged.
    Completed,
    /// The program broke off. If it has done something, that is judged; if not, this is the error.
    Crashed(TrialError),
    /// The agent was not tested: not signed in, rate-limited, no answer from the model.
    Failed(TrialError),
}

/// A message that arrives in pieces and grows beyond this many bytes is handed on in parts: nothing that an agent says
/// is held as a whole, however long it talks.
pub(super) const LONGEST_MESSAGE: usize = 1024 * 1024;

/// Adds a remark. The first ones say what went wrong; an agent that complains for ever is not listened to for ever.
pub(super) fn note(notes: &mut Vec<String>, text: &str) {
    const MOST: usize = 50;
    if notes.len() < MOST {
        notes.push(text.to_owned());
    }
}

/// What agents without a stream of their own share: every line is a message, up to a limit.
#[derive(Debug, Default)]
pub(super) struct PlainLines {
    line: u64,
}

impl PlainLines {
    const SHOWN: u64 = 2_000;

    pub(super) fn record(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        let step = match (self.line, line) {
            (n, _) if n > Self::SHOWN + 1 => return Vec::new(),
            (n, _) if n == Self::SHOWN + 1 => Step::Notice {
                text: format!(
                    "the output goes on after {} lines: see artifacts/stdout.log",
                    Self::SHOWN
                ),
            },
            (_, Line::Text(text)) => Step::Message {
                role: Role::Assistant,
                text: text.to_owned(),
            },
            (_, Line::Oversized { beginning, bytes }) => {
                let beginning: String = beginning.chars().take(200).collect();
                Step::Notice {
                    text: format!("a line of {bytes} bytes: {beginning}…"),
                }
            }
        };
        vec![Record {
            time: None,
            line: self.line,
            step,
        }]
    }
}
