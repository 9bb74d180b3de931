//! The files of a trial that people read (its transcript, changes and log), in limited size.
//!
//! Agents write as much as they like. A page asks for a size and gets the beginning, the end, and the size of
//! the part between.

use crate::text::excerpt::{Excerpt, without_middle};
use crate::transcript::{Record, Step};

/// The readable files of one trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrialFiles {
    /// The agent's session.
    pub transcript: Session,
    /// The diff of the workspace.
    pub changes: Excerpt,
    /// `run.log`.
    pub log: Excerpt,
}

/// A transcript, or its beginning and its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    /// The first steps, or all of them.
    pub head: Vec<Record>,
    /// The number of steps between the two.
    pub left_out: usize,
    /// The last steps; empty when nothing was left out.
    pub tail: Vec<Record>,
}

impl Session {
    /// Returns whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }
}

/// Shortens every text of a record to about `limit` bytes.
pub fn with_short_texts(record: Record, limit: usize) -> Record {
    let short = |text: String| without_middle(&text, limit);
    let step = match record.step {
        Step::Message { role, text } => Step::Message {
            role,
            text: short(text),
        },
        Step::Reasoning { text } => Step::Reasoning { text: short(text) },
        Step::ToolCall {
            id,
            tool,
            input,
            server,
            server_tool,
        } => Step::ToolCall {
            id,
            tool: short(tool),
            input: short_value(input, limit),
            server,
            server_tool: server_tool.map(short),
        },
        Step::ToolResult { id, ok, output } => Step::ToolResult {
            id,
            ok,
            output: output.map(short),
        },
        Step::Notice { text } => Step::Notice { text: short(text) },
        Step::Error { text } => Step::Error { text: short(text) },
        short @ (Step::Usage { .. } | Step::Omitted { .. }) => short,
    };
    Record { step, ..record }
}

/// Replaces an input whose JSON is too long by the beginning and the end of that JSON.
fn short_value(value: serde_json::Value, limit: usize) -> serde_json::Value {
    let text = value.to_string();
    if text.len() <= limit {
        value
    } else {
        serde_json::Value::String(without_middle(&text, limit))
    }
}
