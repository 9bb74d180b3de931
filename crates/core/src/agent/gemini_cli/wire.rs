//! The JSON that Gemini CLI writes, as far as it matters here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The events of `stream-json` that matter here.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    Message {
        role: String,
        content: String,
        #[serde(default)]
        delta: bool,
    },
    ToolUse {
        tool_name: String,
        tool_id: Option<String>,
        #[serde(default)]
        parameters: Value,
    },
    ToolResult {
        tool_id: Option<String>,
        status: String,
        output: Option<String>,
        error: Option<EventError>,
    },
    Error {
        message: String,
    },
    Result {
        status: String,
        error: Option<EventError>,
        stats: Option<ResultStats>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Stamped {
    pub(super) timestamp: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct EventError {
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct ResultStats {
    pub(super) total_tokens: u64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cached: u64,
    pub(super) tool_calls: u64,
    #[serde(default)]
    pub(super) models: BTreeMap<String, ModelStats>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ModelStats {
    pub(super) total_tokens: u64,
}

/// A line of the session file. The same id comes again when tool calls are added; the last one counts.
#[derive(Debug, Deserialize)]
pub(super) struct SessionLine {
    pub(super) id: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) model: Option<String>,
    pub(super) tokens: Option<SessionTokens>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct SessionTokens {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
    pub(super) thoughts: u64,
}
