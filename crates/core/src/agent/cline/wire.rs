//! The JSON that Cline writes, as far as it matters here.

use serde::Deserialize;
use serde_json::Value;

/// A line of `--json`.
#[derive(Debug, Deserialize)]
pub(super) struct Stamped {
    #[serde(rename = "ts")]
    pub(super) time: Option<String>,
    #[serde(flatten)]
    pub(super) line: Written,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Written {
    AgentEvent {
        event: Event,
    },
    RunResult(RunResult),
    /// It did not even start.
    Error {
        message: String,
    },
    #[serde(other)]
    Other,
}

/// Sub-agents speak in the same stream, without a word about who they are.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    /// A model is about to be asked.
    IterationStart,
    ContentStart(Content),
    ContentEnd(Content),
    Usage(Used),
    /// The end of an agent: of the main one, or of a sub-agent.
    Done {
        #[serde(default)]
        usage: Total,
    },
    Error(Failure),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    pub(super) content_type: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) reasoning: String,
    pub(super) tool_name: Option<String>,
    pub(super) tool_call_id: Option<String>,
    #[serde(default)]
    pub(super) input: Value,
    #[serde(default)]
    pub(super) output: Value,
    pub(super) error: Option<String>,
}

/// What one request used. Input includes the cached, output the reasoning.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Used {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cache_read_tokens: u64,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Total {
    pub(super) total_cost: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Failure {
    #[serde(default)]
    pub(super) error: Value,
    #[serde(default)]
    pub(super) error_class: String,
    #[serde(default)]
    pub(super) recoverable: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunResult {
    pub(super) finish_reason: String,
    #[serde(default)]
    pub(super) text: String,
    pub(super) model: Option<Model>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Model {
    pub(super) id: String,
    pub(super) provider: String,
}
