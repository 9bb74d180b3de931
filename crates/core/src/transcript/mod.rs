//! The agent's session in Terca's own form, the same for every agent. `transcript.jsonl` holds it.

pub mod activity;
pub mod atif;
pub mod edits;
mod plausible;
mod tool_arguments;
pub mod tool_use;
pub mod trial_files;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::excerpt::first_line;
use crate::text::mask::Mask;
use crate::text::prose;
use crate::transcript::tool_arguments::main_argument;

/// One thing that happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Step {
    /// Something that was said.
    Message {
        /// Who said it.
        role: Role,
        /// The words.
        text: String,
    },
    /// A thought, from agents that show them.
    Reasoning {
        /// The words.
        text: String,
    },
    /// A call of a tool.
    ToolCall {
        /// Joins the call with its result.
        id: Option<String>,
        /// The tool's name.
        tool: String,
        /// The arguments.
        input: Value,
        /// The MCP server that provides the tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The tool's name at its MCP server. Agents put the server's name in front, each in its own way.
        #[serde(skip_serializing_if = "Option::is_none")]
        server_tool: Option<String>,
    },
    /// The answer of a tool.
    ToolResult {
        /// The id of the call.
        id: Option<String>,
        /// Whether the tool reported success.
        ok: bool,
        /// The text that the agent got back.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<String>,
    },
    /// A remark of the agent's program or of Terca.
    Notice {
        /// The words.
        text: String,
    },
    /// An error that the agent reported.
    Error {
        /// The message.
        text: String,
    },
    /// Lines that were not decoded, because too many of them came without a tool call between them. They are
    /// in the agent's raw output.
    Omitted {
        /// The number of lines.
        lines: u64,
        /// Their size.
        bytes: u64,
        /// Whether words of the agent are among them.
        words: bool,
    },
}

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The prompt.
    User,
    /// The agent.
    Assistant,
}

/// A step with the line of the agent's raw output that it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The time the agent gives, if it gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The milliseconds from the beginning of the session to the moment at which Terca read it.
    #[serde(rename = "atMs", default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
    /// The line of the raw stream, from 1.
    pub line: u64,
    /// The step itself.
    #[serde(flatten)]
    pub step: Step,
}

impl Record {
    /// Returns a step that comes from no line of the agent's output.
    pub fn without_line(step: Step) -> Self {
        Record {
            time: None,
            at_ms: None,
            line: 0,
            step,
        }
    }

    /// Masks the secrets in a record. Only its words are masked: a secret such as `message` must not make it unreadable.
    #[must_use]
    pub fn masked(mut self, mask: &Mask) -> Self {
        let (texts, input) = self.step.texts_mut();
        for text in texts.into_iter().chain(&mut self.time) {
            *text = mask.text(text);
        }
        if let Some(input) = input {
            *input = masked_value(std::mem::take(input), mask);
        }
        self
    }
}

/// Masks the strings and the names in a document.
fn masked_value(document: Value, mask: &Mask) -> Value {
    match document {
        Value::String(words) => Value::String(mask.text(&words)),
        Value::Array(items) => items
            .into_iter()
            .map(|item| masked_value(item, mask))
            .collect(),
        Value::Object(entries) => entries
            .into_iter()
            .map(|(name, entry)| (mask.text(&name), masked_value(entry, mask)))
            .collect(),
        other => other,
    }
}

/// The figures of a session so far. `None` means "not known".
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Model requests, not turns.
    pub requests: Option<u64>,
    /// Tokens sent, the cached ones included.
    pub input_tokens: Option<u64>,
    /// Tokens that the service had cached.
    pub cached_input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    pub output_tokens: Option<u64>,
    /// Calls of tools.
    pub tool_calls: Option<u64>,
    /// The price in dollars.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Returns the figures of `self`, and those of `other` where `self` has none.
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

    /// Returns all tokens, sent and written.
    pub fn tokens(&self) -> Option<u64> {
        let known = [self.input_tokens, self.output_tokens]
            .into_iter()
            .flatten();
        known.reduce(u64::saturating_add)
    }
}

/// Adds up figures that an agent printed. They may be any numbers, so a sum that is too large stays at the
/// largest possible one.
pub fn total(figures: impl IntoIterator<Item = u64>) -> u64 {
    figures.into_iter().fold(0, u64::saturating_add)
}

impl Step {
    /// Returns the texts of a step, and the arguments of a call.
    fn texts_mut(&mut self) -> (Vec<&mut String>, Option<&mut Value>) {
        match self {
            Step::Message { text, .. }
            | Step::Reasoning { text }
            | Step::Notice { text }
            | Step::Error { text } => (vec![text], None),
            Step::ToolCall {
                id,
                tool,
                input,
                server,
                server_tool,
            } => {
                let texts = [id, server, server_tool].into_iter().flatten();
                (texts.chain([tool]).collect(), Some(input))
            }
            Step::ToolResult { id, ok: _, output } => {
                ([id, output].into_iter().flatten().collect(), None)
            }
            Step::Omitted { .. } => (Vec::new(), None),
        }
    }

    /// Returns one line for a log or a live display.
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

/// The origin of a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CostSource {
    /// The agent reported it.
    Agent,
    /// Terca worked it out from tokens and prices.
    Computed,
}

impl CostSource {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            CostSource::Agent => "agent",
            CostSource::Computed => "computed",
        }
    }
}

/// The figures of a trial. A figure that nobody knows is `null`, never 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// The figures: those that the agent reported, or else those of the gateway.
    #[serde(flatten)]
    pub usage: Usage,
    /// The origin of the cost.
    pub cost_source: Option<CostSource>,
    /// The time the agent ran, by Terca's own clock.
    pub duration_seconds: Option<f64>,
}
