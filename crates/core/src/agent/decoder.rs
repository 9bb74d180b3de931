//! The way from an agent's output to steps, figures and an ending.

use std::collections::BTreeMap;

use super::conversation::Conversation;
use crate::agent::delivery::McpDelivery;
use crate::text::mask::Mask;
use crate::transcript::{CostSource, Record, Usage};
use crate::trial_error::TrialError;

/// A line of the agent's output.
#[derive(Debug, Clone, Copy)]
pub enum Line<'a> {
    /// A whole line, without its end.
    Text(&'a str),
    /// A line that is too long to hold.
    Oversized {
        /// The first bytes of the line.
        beginning: &'a str,
        /// The length of the line.
        bytes: u64,
    },
}

/// A line as it was printed, without its end.
#[derive(Debug, Clone, Copy)]
pub struct RawLine<'a> {
    /// The line, or the first bytes of a line that is too long to hold.
    pub text: &'a [u8],
    /// The length of the line.
    pub bytes: u64,
}

impl<'a> RawLine<'a> {
    /// A line that is held as a whole.
    pub fn whole(text: &'a [u8]) -> Self {
        RawLine {
            text,
            bytes: text.len() as u64,
        }
    }

    /// Hands the line to a decoder without the keys in it: a decoder cuts what it reads.
    pub fn read<T>(self, mask: &Mask, read: impl FnOnce(Line<'_>) -> T) -> T {
        let text = String::from_utf8_lossy(self.text);
        let text = mask.keys_in(&text);
        if self.bytes == self.text.len() as u64 {
            return read(Line::Text(&text));
        }
        read(Line::Oversized {
            beginning: &text,
            bytes: self.bytes,
        })
    }
}

/// A line that no count, figure or ending depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skippable {
    /// Words of the agent.
    Words,
    /// Output of a tool, or words said to the agent.
    Output,
}

/// The outcome of a session, according to the agent's own output.
#[derive(Debug)]
pub struct Reading {
    /// Steps that were held back until now.
    pub records: Vec<Record>,
    /// The figures of the whole session.
    pub usage: Usage,
    /// The figures that the agent reports, where others took their place.
    pub reported: Option<Usage>,
    /// The model that the service named in its answers, where the agent passes it on.
    pub model: Option<String>,
    /// True if the figures are those of several models, of which `model` is one.
    pub several_models: bool,
    /// The origin of the cost, where there is one.
    pub cost_source: Option<CostSource>,
    /// The version of the agent, where its session says it.
    pub version: Option<String>,
    /// The MCP servers of the variant. Nothing is known of them until their taps are read.
    pub mcp_servers: BTreeMap<String, McpDelivery>,
    /// The uses of skills by their names; `None` if the agent does not show them.
    pub skill_uses: Option<BTreeMap<String, u64>>,
    /// The end of the session.
    pub ending: Ending,
    /// The talk with the model, as far as it is shown.
    pub conversation: Conversation,
    /// Remarks that change no verdict.
    pub notes: Vec<String>,
}

/// The end of a session. Exit status 0 alone is not success.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// The session came to its end; the work can be judged.
    Completed,
    /// The program broke off. If it has done something, that is judged; if not, this is the error.
    Crashed(TrialError),
    /// The agent was not tested: not signed in, rate-limited, no answer from the model.
    Failed(TrialError),
}
