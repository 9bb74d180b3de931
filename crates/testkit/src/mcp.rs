//! MCP servers for the agents under test, and what they can say about the agent afterwards.

use std::io::BufReader;
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::http::{self, Part, Server};

/// A server for `node` with one tool, `magic`. It takes the path of a log and a mode; its file lists the modes.
pub fn tiny_mcp_server() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/mcp/tiny.mjs")
}

/// The entry of `mcpServers` for [`tiny_mcp_server`], in this mode and with a log of its own in a directory.
pub fn tiny_mcp_entry(logs: &Utf8Path, name: &str, mode: &str) -> Value {
    json!({"command": "node", "args": [tiny_mcp_server(), logs.join(name), mode]})
}

/// How often a [`tiny_mcp_server`] was asked for something, by its log.
pub fn asked_of_tiny_mcp_server(logs: &Utf8Path, name: &str, word: &str) -> usize {
    let log = std::fs::read_to_string(logs.join(name)).unwrap_or_default();
    log.lines().filter(|line| *line == word).count()
}

/// A remote server that lets nobody in: every request is answered with 401, as one with an expired token is.
#[derive(Debug)]
pub struct LockedMcpServer {
    server: Server,
    refused: Arc<Mutex<usize>>,
}

impl LockedMcpServer {
    pub fn start() -> Self {
        let refused = Arc::new(Mutex::new(0));
        let count = Arc::clone(&refused);
        let server = Server::start(move |stream, _| {
            let mut reader = BufReader::new(stream);
            let Some(message) = http::read(&mut reader)? else {
                return Ok(());
            };
            // Clients look for a page about signing in. There is none, as with most servers.
            let status = if message.path.contains(".well-known") {
                404
            } else {
                *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                401
            };
            let body = json!({"error": "invalid_token", "error_description": "THE-TOKEN-EXPIRED"});
            http::write_json(
                reader.get_mut(),
                status,
                None,
                &body.to_string(),
                Part::Whole,
            )
        });
        LockedMcpServer { server, refused }
    }

    pub fn url(&self) -> String {
        format!("{}/mcp", self.server.url())
    }

    /// How many requests it has refused.
    pub fn refused(&self) -> usize {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
