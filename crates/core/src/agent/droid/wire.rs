//! The JSON that Droid writes, as far as it matters here.

use serde::Deserialize;
use serde_json::Value;

/// A line of `stream-json`.
#[derive(Debug, Deserialize)]
pub(super) struct Stamped {
    /// In milliseconds since 1970.
    pub(super) timestamp: Option<i64>,
    #[serde(flatten)]
    pub(super) event: Event,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    System {
        model: Option<String>,
    },
    Message {
        role: String,
        id: Option<String>,
        #[serde(default)]
        text: String,
    },
    Reasoning {
        #[serde(default)]
        text: String,
    },
    #[serde(rename_all = "camelCase")]
    ToolCall {
        id: Option<String>,
        message_id: Option<String>,
        tool_name: String,
        #[serde(default)]
        parameters: Value,
    },
    #[serde(rename_all = "camelCase")]
    ToolResult {
        id: Option<String>,
        #[serde(default)]
        is_error: bool,
        #[serde(default)]
        value: Value,
        #[serde(default)]
        error: Value,
    },
    Error {
        source: Option<String>,
        #[serde(default)]
        message: String,
    },
    #[serde(rename_all = "camelCase")]
    Completion {
        num_turns: Option<u64>,
        #[serde(default)]
        usage: Totals,
    },
    #[serde(other)]
    Other,
}

/// What the session used: input without the cached, output with the reasoning.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Totals {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cache_read_input_tokens: u64,
    pub(super) cache_creation_input_tokens: u64,
}

/// What the log says when all MCP servers have been started, or have not.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reloaded {
    #[serde(default)]
    pub(super) mcp_servers_started: Vec<String>,
    #[serde(default)]
    pub(super) mcp_server_errors: std::collections::BTreeMap<String, String>,
}
