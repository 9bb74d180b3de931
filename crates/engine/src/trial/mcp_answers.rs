//! The answers of MCP servers that have been asked in a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use terca_core::mcp_tap::OfferedTool;

/// The answers of servers that have been asked.
#[derive(Debug, Default)]
pub struct Preflights {
    asked: Mutex<HashMap<String, Arc<Mutex<Option<ServerAnswer>>>>>,
}

/// The answer of a server.
#[derive(Debug, Clone)]
pub(super) enum ServerAnswer {
    /// It answered, with these tools. Those of a server by `sse` are not known.
    Ready(Option<Vec<OfferedTool>>),
    /// It was not asked, for this reason.
    NotAsked(String),
    /// It refused, or ended, for this reason.
    Failed(String),
    /// It was still silent when its time was over. The message says so.
    Silent(String),
}

impl Preflights {
    /// Returns the place of a server's answer. Whoever holds it asks the server, and the others wait.
    pub(super) fn slot(&self, key: String) -> Arc<Mutex<Option<ServerAnswer>>> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.entry(key).or_default().clone()
    }
}
