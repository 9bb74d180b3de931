//! The trajectory, as far as it matters here.

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
pub(super) struct Document {
    pub(super) info: Info,
    pub(super) messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Info {
    /// How it ended, or the name of the exception that ended it; empty while it goes on.
    #[serde(default)]
    pub(super) exit_status: String,
    pub(super) model_stats: ModelStats,
}

#[derive(Debug, Deserialize)]
pub(super) struct ModelStats {
    /// 0 where the price of the model is not known.
    pub(super) instance_cost: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) role: String,
    /// A text; a list of parts for some models.
    #[serde(default)]
    pub(super) content: Value,
    #[serde(default)]
    pub(super) reasoning_content: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<ToolCall>>,
    pub(super) tool_call_id: Option<String>,
    #[serde(default)]
    pub(super) extra: Extra,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToolCall {
    pub(super) id: Option<String>,
    pub(super) function: Function,
}

#[derive(Debug, Deserialize)]
pub(super) struct Function {
    pub(super) name: String,
    /// JSON in a text.
    #[serde(default)]
    pub(super) arguments: String,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Extra {
    /// What the service answered; a text where it could not be written down.
    #[serde(default)]
    pub(super) response: Value,
    pub(super) returncode: Option<i64>,
    pub(super) raw_output: Option<String>,
    pub(super) exception_info: Option<String>,
}

/// Input includes the cached.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Tokens {
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
    pub(super) prompt_tokens_details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Details {
    pub(super) cached_tokens: Option<u64>,
}
