//! The JSON that goose writes, as far as it matters here.

use serde::Deserialize;
use serde_json::Value;

/// A line of `stream-json`.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    Message {
        message: Message,
    },
    Error {
        error: String,
    },
    Complete(Totals),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) id: Option<String>,
    pub(super) role: String,
    /// In seconds since 1970.
    pub(super) created: Option<i64>,
    #[serde(default)]
    pub(super) content: Vec<Content>,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Metadata {
    /// Only what a model has said has it; goose speaks for itself too.
    pub(super) inference: Option<Inference>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Inference {
    pub(super) provider: Option<String>,
    pub(super) requested_model: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum Content {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    ToolRequest {
        id: Option<String>,
        tool_call: Value,
        #[serde(default, rename = "_meta")]
        meta: Value,
    },
    ToolResponse {
        id: Option<String>,
        tool_result: Value,
    },
    Error {
        #[serde(default)]
        kind: String,
        #[serde(default)]
        message: String,
    },
    #[serde(other)]
    Other,
}

/// Input includes the cached.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct Totals {
    pub(super) total_tokens: Option<u64>,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
    pub(super) cost_usd: Option<f64>,
}
