//! The JSON that Gemini CLI writes, as far as it matters here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The events of `stream-json`: all kinds in one, since which fields there are depends on `type`. An enum
/// would have serde take every line apart twice, and there may be millions.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    #[serde(rename = "type")]
    pub(super) kind: EventType,
    pub(super) timestamp: Option<String>,
    pub(super) role: Option<String>,
    pub(super) content: Option<String>,
    #[serde(default)]
    pub(super) delta: bool,
    pub(super) tool_name: Option<String>,
    pub(super) tool_id: Option<String>,
    #[serde(default)]
    pub(super) parameters: Value,
    pub(super) status: Option<String>,
    pub(super) output: Option<String>,
    pub(super) error: Option<EventError>,
    pub(super) message: Option<String>,
    pub(super) stats: Option<ResultStats>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EventType {
    Message,
    ToolUse,
    ToolResult,
    Error,
    Result,
    #[serde(other)]
    Other,
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
