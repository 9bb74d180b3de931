//! MCP servers, as written (`T` is text with places) and as an agent is given them (`T` is plain text).

use serde::Serialize;

#[derive(Debug, Clone, PartialEq)]
pub enum McpServer<T> {
    Stdio { command: T, args: Vec<T>, env: Vec<(String, T)>, cwd: Option<T> },
    Remote { url: T, headers: Vec<(String, T)>, transport: RemoteTransport },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RemoteTransport {
    Http,
    Sse,
}
