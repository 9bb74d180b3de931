//! The JSON that cn writes, as far as it matters here.

use serde::Deserialize;
use serde_json::Value;

/// The one line on standard error.
#[derive(Debug, Deserialize)]
pub(super) struct Report {
    pub(super) status: String,
    #[serde(default)]
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Document {
    pub(super) history: Vec<Item>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    pub(super) message: Message,
    #[serde(default)]
    pub(super) tool_call_states: Vec<ToolCallState>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    pub(super) role: String,
    #[serde(default)]
    pub(super) content: Value,
    #[serde(default)]
    pub(super) tool_calls: Vec<ToolCall>,
    /// As the service told it. The sums at the end of the file lack what was cached, and guess the cost.
    pub(super) usage: Option<Tokens>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToolCall {
    pub(super) id: Option<String>,
    pub(super) function: Function,
}

#[derive(Debug, Deserialize)]
pub(super) struct Function {
    #[serde(default)]
    pub(super) name: String,
    /// JSON in a text.
    #[serde(default)]
    pub(super) arguments: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolCallState {
    pub(super) tool_call_id: Option<String>,
    pub(super) status: String,
    #[serde(default)]
    pub(super) output: Vec<Output>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Output {
    #[serde(default)]
    pub(super) content: String,
}

/// Input includes the cached.
#[derive(Debug, Deserialize)]
pub(super) struct Tokens {
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
    pub(super) prompt_tokens_details: Option<Details>,
    pub(super) model: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Details {
    pub(super) cached_tokens: Option<u64>,
}
