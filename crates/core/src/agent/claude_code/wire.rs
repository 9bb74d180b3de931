//! The JSON that Claude Code writes, as far as it matters here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The events of `stream-json`, and the lines of a transcript, that matter here.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    System(System),
    Assistant {
        message: Message,
    },
    User {
        message: Message,
    },
    Result(SessionResult),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Stamped {
    pub(super) timestamp: Option<String>,
}

/// All the kinds of `system` events in one: which fields there are depends on `subtype`.
#[derive(Debug, Deserialize)]
pub(super) struct System {
    #[serde(default)]
    pub(super) subtype: String,
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) mcp_servers: Vec<ServerState>,
    #[serde(default)]
    pub(super) attempt: u64,
    #[serde(default)]
    pub(super) max_retries: u64,
    pub(super) error_status: Option<u16>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ServerState {
    pub(super) name: String,
    pub(super) status: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) content: Content,
    pub(super) usage: Option<Tokens>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Blocks(Vec<Block>),
    Unknown(Value),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        content: Option<Content>,
        is_error: Option<bool>,
    },
    #[serde(other)]
    Other,
}

/// What one request used. The three kinds of input exclude each other.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    pub(super) input_tokens: u64,
    pub(super) cache_creation_input_tokens: u64,
    pub(super) cache_read_input_tokens: u64,
    pub(super) output_tokens: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct SessionResult {
    #[serde(default)]
    pub(super) subtype: String,
    #[serde(default)]
    pub(super) is_error: bool,
    pub(super) api_error_status: Option<u16>,
    pub(super) num_turns: Option<u64>,
    pub(super) result: Option<String>,
    pub(super) stop_reason: Option<String>,
    pub(super) total_cost_usd: Option<f64>,
    #[serde(default, rename = "modelUsage")]
    pub(super) model_usage: BTreeMap<String, ModelUsage>,
    #[serde(default)]
    pub(super) errors: Vec<String>,
    #[serde(default)]
    pub(super) permission_denials: Vec<Denial>,
}

/// What a model was used for in all, by subagents too.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelUsage {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cache_read_input_tokens: u64,
    pub(super) cache_creation_input_tokens: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Denial {
    #[serde(default)]
    pub(super) tool_name: String,
}

impl SessionResult {
    /// Its errors, but for those that only its makers can read.
    pub(super) fn errors_for_people(&self) -> String {
        let errors = self
            .errors
            .iter()
            .filter(|error| !error.starts_with("[ede_diagnostic]"));
        errors.map(String::as_str).collect::<Vec<_>>().join("; ")
    }
}

impl Content {
    /// All that is text in it.
    pub(super) fn text(&self) -> String {
        match self {
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(|block| match block {
                    Block::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
            Content::Unknown(value) => value.to_string(),
        }
    }

    pub(super) fn into_blocks(self) -> Vec<Block> {
        match self {
            Content::Text(text) => vec![Block::Text { text }],
            Content::Blocks(blocks) => blocks,
            Content::Unknown(_) => Vec::new(),
        }
    }
}
