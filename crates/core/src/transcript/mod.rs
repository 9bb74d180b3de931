//! The agent's session in Terca's own form: what `transcript.jsonl` holds, whatever the agent.

pub mod activity;
pub mod atif;
mod tool_arguments;
pub mod trial_files;

use serde::{Deserialize, Serialize};

use crate::text::prose;
use crate::text::prose::first_line;
use crate::transcript::tool_arguments::main_argument;

/// One thing that happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Step {
    Message {
        role: Role,
        text: String,
    },
    /// What the agent thought, where it shows that.
    Reasoning {
        text: String,
    },
    ToolCall {
        id: Option<String>,
        tool: String,
        input: serde_json::Value,
        /// The MCP server whose tool it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<String>,
    },
    ToolResult {
        id: Option<String>,
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<String>,
    },
    /// What one model request used.
    Usage {
        usage: Usage,
    },
    Notice {
        text: String,
    },
    Error {
        text: String,
    },
    /// Lines that were not decoded, since there were too many of them without a tool call between them. They are in
    /// the agent's raw output.
    Omitted {
        lines: u64,
        bytes: u64,
        /// Whether what the agent said is among them.
        words: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
}

/// A step with the line of the agent's raw output that it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The time the agent gives, if it gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The line of the raw stream, from 1.
    pub line: u64,
    #[serde(flatten)]
    pub step: Step,
}

/// What a session has used so far. `None` is "not known".
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Model requests, not turns.
    pub requests: Option<u64>,
    /// Includes the cached ones.
    pub input_tokens: Option<u64>,
    pub cached_input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub tool_calls: Option<u64>,
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// The figures of `self`, and those of `other` where `self` has none.
    pub fn or(self, other: Usage) -> Usage {
        Usage {
            requests: self.requests.or(other.requests),
            input_tokens: self.input_tokens.or(other.input_tokens),
            cached_input_tokens: self.cached_input_tokens.or(other.cached_input_tokens),
            output_tokens: self.output_tokens.or(other.output_tokens),
            tool_calls: self.tool_calls.or(other.tool_calls),
            cost_usd: self.cost_usd.or(other.cost_usd),
        }
    }

    pub fn tokens(&self) -> Option<u64> {
        match (self.input_tokens, self.output_tokens) {
            (None, None) => None,
            (input, output) => Some(total([input.unwrap_or(0), output.unwrap_or(0)])),
        }
    }
}

/// The sum of figures that an agent has printed, which may be any numbers: one that is too large to be held stays at
/// the largest there is.
pub fn total(figures: impl IntoIterator<Item = u64>) -> u64 {
    figures.into_iter().fold(0, u64::saturating_add)
}

impl Step {
    /// One line for a log or a live display: what the agent is doing.
    pub fn headline(&self) -> String {
        match self {
            Step::Message {
                role: Role::User,
                text,
            } => format!("prompt: {}", first_line(text)),
            Step::Message {
                role: Role::Assistant,
                text,
            } => first_line(text),
            Step::ToolCall { tool, input, .. } => format!("{tool} {}", main_argument(input))
                .trim_end()
                .to_owned(),
            Step::ToolResult {
                ok: true, output, ..
            } => {
                format!("→ {}", output.as_deref().map_or("done".into(), first_line))
            }
            Step::ToolResult {
                ok: false, output, ..
            } => {
                format!(
                    "→ failed: {}",
                    output.as_deref().map_or(String::new(), first_line)
                )
            }
            Step::Reasoning { text } => format!("thinking: {}", first_line(text)),
            Step::Usage { usage } => format!("used {} tokens", usage.tokens().unwrap_or(0)),
            Step::Notice { text } => format!("note: {}", first_line(text)),
            Step::Error { text } => format!("error: {}", first_line(text)),
            Step::Omitted { lines, bytes, .. } => {
                format!(
                    "… {} of output left out, {} lines …",
                    prose::bytes(*bytes),
                    prose::compact(*lines)
                )
            }
        }
    }
}

/// The figures of a trial. What the agent did not report is `null`, never 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    #[serde(flatten)]
    pub usage: Usage,
    /// How long the agent ran, by Terca's own clock.
    pub duration_seconds: Option<f64>,
}
