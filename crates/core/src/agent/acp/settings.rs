//! The settings of Terca's client, in a file.

use crate::agent::prelude::*;

/// The name of the file with the settings, in the artifacts too.
pub(super) const FILE: &str = "acp.json";

/// Returns the session that the client asks the agent for. `model` is the one that is chosen by the protocol, and the MCP
/// servers are as the protocol has them. `meta` is for this agent alone.
pub(super) fn session_settings(inputs: &Inputs<'_>, model: Option<&str>, meta: &Value) -> Value {
    let servers = inputs.mcp_servers.iter();
    let servers = servers.map(|(name, server)| mcp_server(name, server));
    json!({
        "cwd": inputs.workspace.as_str(),
        "model": model,
        "meta": meta,
        "mcpServers": servers.collect::<Vec<_>>(),
    })
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
