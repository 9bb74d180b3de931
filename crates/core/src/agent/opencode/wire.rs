//! The JSON that opencode writes, as far as it matters here.

use serde::Deserialize;
use serde_json::Value;

/// A line of `--format json`.
#[derive(Debug, Deserialize)]
pub(super) struct Stamped {
    /// In milliseconds since 1970.
    pub(super) timestamp: Option<i64>,
    #[serde(rename = "sessionID")]
    pub(super) session: Option<String>,
    #[serde(flatten)]
    pub(super) event: Event,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    StepStart,
    Text {
        part: Spoken,
    },
    Reasoning {
        part: Spoken,
    },
    /// Written once, when the tool is done.
    ToolUse {
        part: ToolPart,
    },
    StepFinish {
        part: Finish,
    },
    Error {
        error: Failure,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Spoken {
    #[serde(default)]
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolPart {
    pub(super) tool: String,
    #[serde(rename = "callID")]
    pub(super) call_id: Option<String>,
    pub(super) state: ToolState,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToolState {
    pub(super) status: String,
    #[serde(default)]
    pub(super) input: Value,
    pub(super) output: Option<String>,
    pub(super) error: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Finish {
    pub(super) reason: String,
    #[serde(default)]
    pub(super) tokens: Tokens,
    #[serde(default)]
    pub(super) cost: f64,
}

/// What one request used: input without the cached, output without the reasoning.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) reasoning: u64,
    pub(super) cache: Cache,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cache {
    pub(super) read: u64,
    pub(super) write: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Failure {
    pub(super) name: String,
    pub(super) data: FailureData,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FailureData {
    pub(super) message: String,
    pub(super) status_code: Option<u16>,
}
