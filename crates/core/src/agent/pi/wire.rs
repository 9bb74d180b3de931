//! The JSON that pi writes, as far as it matters here.

use serde::Deserialize;
use serde_json::Value;

/// A line of `--mode json`.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum Event {
    AgentStart,
    MessageEnd {
        message: Message,
    },
    ToolExecutionStart {
        tool_call_id: Option<String>,
        tool_name: String,
        #[serde(default)]
        args: Value,
    },
    /// Of what was asked. It may start again, after an error or when the conversation has become too long.
    AgentEnd,
    CompactionStart,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(
    tag = "role",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum Message {
    User {
        #[serde(default)]
        content: Content,
        timestamp: Option<i64>,
    },
    Assistant(Answer),
    ToolResult {
        tool_call_id: Option<String>,
        #[serde(default)]
        content: Content,
        #[serde(default)]
        is_error: bool,
        timestamp: Option<i64>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    #[serde(default)]
    pub(super) content: Content,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) usage: Tokens,
    #[serde(default)]
    pub(super) stop_reason: String,
    pub(super) error_message: Option<String>,
    /// In milliseconds since 1970.
    pub(super) timestamp: Option<i64>,
}

/// One text, or parts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

impl Default for Content {
    fn default() -> Self {
        Content::Parts(Vec::new())
    }
}

impl Content {
    pub(super) fn parts(self) -> Vec<Part> {
        match self {
            Content::Text(text) => vec![Part::Text { text }],
            Content::Parts(parts) => parts,
        }
    }

    /// Its texts in one.
    pub(super) fn text(self) -> String {
        let text = |part| {
            if let Part::Text { text } = part {
                Some(text)
            } else {
                None
            }
        };
        self.parts()
            .into_iter()
            .filter_map(text)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum Part {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    #[serde(other)]
    Other,
}

/// What one request used: input without the cached, output with the reasoning.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    pub(super) cost: Cost,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cost {
    pub(super) total: f64,
}
