//! The JSON that Copilot writes, as far as it matters here.

use serde::Deserialize;
use serde_json::Value;

/// A line of its output, or of the session's log.
#[derive(Debug, Deserialize)]
pub(super) struct Stamped {
    pub(super) timestamp: Option<String>,
    /// Set where a sub-agent speaks.
    #[serde(rename = "agentId")]
    pub(super) agent: Option<String>,
    /// Only the last line, the result, has it.
    #[serde(rename = "exitCode")]
    pub(super) exit_code: Option<i32>,
    #[serde(flatten)]
    pub(super) event: Event,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", content = "data")]
pub(super) enum Event {
    #[serde(rename = "session.mcp_server_status_changed")]
    ServerChanged(Server),
    #[serde(rename = "session.mcp_servers_loaded")]
    ServersLoaded { servers: Vec<Server> },
    #[serde(rename = "user.message")]
    Prompt { content: String },
    #[serde(rename = "assistant.message")]
    Answer(Answer),
    #[serde(rename = "tool.execution_start")]
    ToolStart(ToolStart),
    #[serde(rename = "tool.execution_complete")]
    ToolEnd(ToolEnd),
    #[serde(rename = "model.call_finished")]
    CallFinished { outcome: String },
    #[serde(rename = "session.error")]
    Error(SessionError),
    /// Only in the log: what one answered request used.
    #[serde(rename = "session.usage_record")]
    UsageRecord { usage: Used },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Server {
    #[serde(alias = "serverName")]
    pub(super) name: String,
    pub(super) status: String,
    pub(super) error: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    #[serde(default)]
    pub(super) content: String,
    pub(super) reasoning_text: Option<String>,
    pub(super) model: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolStart {
    pub(super) tool_call_id: Option<String>,
    pub(super) tool_name: String,
    #[serde(default)]
    pub(super) arguments: Value,
    /// The MCP server as the settings call it.
    pub(super) mcp_config_server_name: Option<String>,
    pub(super) mcp_server_name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolEnd {
    pub(super) tool_call_id: Option<String>,
    #[serde(default)]
    pub(super) success: bool,
    #[serde(default)]
    pub(super) result: Value,
    #[serde(default)]
    pub(super) error: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionError {
    #[serde(default)]
    pub(super) error_type: String,
    #[serde(default)]
    pub(super) message: String,
    pub(super) status_code: Option<u16>,
}

/// Input includes the cached, output the reasoning.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Used {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cache_read_tokens: u64,
}
