//! The settings of Terca's client, in a file.

use crate::agent::prelude::*;
use serde::Deserialize;
use serde::Serialize;

/// The name of the file with the settings, in the artifacts too.
pub(super) const FILE: &str = "acp.json";

/// The session that the client asks the agent for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSettings {
    /// The directory that the agent works in.
    pub cwd: String,
    /// The model that is chosen by the protocol. `null` if there is none, or if the agent is told in another way.
    pub model: Option<String>,
    /// The MCP servers, as the protocol has them.
    pub mcp_servers: Vec<Value>,
}

impl SessionSettings {
    pub(super) fn new(inputs: &Inputs<'_>, model: Option<&str>) -> Self {
        let servers = inputs.mcp_servers.iter();
        SessionSettings {
            cwd: inputs.workspace.to_string(),
            model: model.map(str::to_owned),
            mcp_servers: servers
                .map(|(name, server)| mcp_server(name, server))
                .collect(),
        }
    }
}

fn mcp_server(name: &str, server: &McpServer<String>) -> Value {
    match server.with_cwd_wrapped() {
        McpServer::Stdio {
            command, args, env, ..
        } => json!({ "name": name, "command": command, "args": args, "env": pairs(&env) }),
        McpServer::Remote { url, headers, .. } => {
            let kind = server.kind(["", "http", "sse"]);
            json!({ "type": kind, "name": name, "url": url, "headers": pairs(&headers) })
        }
    }
}

fn pairs(pairs: &[(String, String)]) -> Vec<Value> {
    let pair = |(name, value): &(String, String)| json!({ "name": name, "value": value });
    pairs.iter().map(pair).collect()
}
