//! The JSON that Qwen Code writes, as far as it matters here.

use serde::Deserialize;
use serde_json::Value;

/// The events of `stream-json` that matter here.
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
    Result(Outcome),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct System {
    #[serde(default)]
    pub(super) mcp_servers: Vec<Server>,
    pub(super) model: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) status: String,
}

/// One response comes as a message for each of its blocks; only the last has figures.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) model: Option<String>,
    pub(super) content: Content,
    #[serde(default)]
    pub(super) usage: Tokens,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Blocks(Vec<Block>),
    Text(String),
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
        id: Option<String>,
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        tool_use_id: Option<String>,
        #[serde(default)]
        is_error: bool,
        #[serde(default)]
        content: Value,
    },
    #[serde(other)]
    Other,
}

/// Input with the cached, output with the thoughts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(alias = "input_token_count")]
    pub(super) input_tokens: u64,
    #[serde(alias = "output_token_count")]
    pub(super) output_tokens: u64,
    #[serde(alias = "cached_content_token_count")]
    pub(super) cache_read_input_tokens: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Outcome {
    #[serde(default)]
    pub(super) subtype: String,
    #[serde(default)]
    pub(super) is_error: bool,
    #[serde(default)]
    pub(super) usage: Tokens,
    #[serde(default)]
    pub(super) permission_denials: Vec<Value>,
    pub(super) error: Option<OutcomeError>,
}

#[derive(Debug, Deserialize)]
pub(super) struct OutcomeError {
    #[serde(default)]
    pub(super) message: String,
}

/// A line of the session file. Every answer of the model has one with telemetry.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionLine {
    pub(super) uuid: String,
    pub(super) system_payload: Payload,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Payload {
    pub(super) ui_event: UiEvent,
}

#[derive(Debug, Deserialize)]
pub(super) struct UiEvent {
    #[serde(rename = "event.name")]
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) tokens: Tokens,
}
