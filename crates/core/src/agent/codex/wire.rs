//! The JSON that Codex writes, as far as it matters here.

use serde::Deserialize;
use serde_json::Value;

use crate::agent::tokens::Tokens;

/// The events of `codex exec --json` that matter here.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Event {
    #[serde(rename = "turn.started")]
    TurnStarted,
    #[serde(rename = "turn.completed")]
    TurnCompleted { usage: Option<WireTokens> },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: Failure },
    #[serde(rename = "item.started", alias = "item.updated")]
    ItemStarted { item: Item },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: Item },
    /// Mostly about a request that is tried again.
    #[serde(rename = "error")]
    Error { message: String },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Failure {
    #[serde(default)]
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Item {
    #[serde(default)]
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) what: What,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum What {
    AgentMessage {
        text: String,
    },
    Reasoning {
        text: String,
    },
    CommandExecution {
        command: String,
        #[serde(default)]
        aggregated_output: String,
        exit_code: Option<i64>,
    },
    FileChange {
        #[serde(default)]
        changes: Value,
        #[serde(default)]
        status: String,
    },
    McpToolCall {
        server: String,
        tool: String,
        #[serde(default)]
        arguments: Value,
        result: Option<McpResult>,
        error: Option<Failure>,
        /// `failed` also for a result that the server itself calls an error.
        #[serde(default)]
        status: String,
    },
    WebSearch {
        #[serde(default)]
        query: String,
    },
    /// A call that starts or steers subagents.
    CollabToolCall {
        tool: String,
        prompt: Option<String>,
        #[serde(default)]
        status: String,
    },
    /// A warning.
    Error {
        message: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct McpResult {
    #[serde(default)]
    pub(super) content: Vec<McpContent>,
}

#[derive(Debug, Deserialize)]
pub(super) struct McpContent {
    pub(super) text: Option<String>,
}

/// The cached tokens are part of the input.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireTokens {
    input_tokens: u64,
    cached_input_tokens: u64,
    output_tokens: u64,
}

impl WireTokens {
    pub(super) fn tokens(self) -> Tokens {
        Tokens {
            input: self.input_tokens,
            cached: self.cached_input_tokens,
            output: self.output_tokens,
        }
    }
}

/// A line of a rollout file. Every thread has its own, subagents too.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
pub(super) enum RolloutLine {
    /// One for each answer of the model.
    TokenUsageRecord {
        response_id: String,
        usage: WireTokens,
    },
    ResponseItem(ResponseItem),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct ResponseItem {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) call_id: Option<String>,
}
