//! The MCP servers of a session: which connected, and which were called.

use super::Session;
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::mcp::{ServerTool, server_of};
use crate::trial_error::{ErrorKind, TrialError};

impl Session {
    /// Returns the names of the servers of the variant.
    pub(in crate::agent) fn servers(&self) -> &[String] {
        &self.servers
    }

    /// Returns the server that the name of a tool begins with.
    pub(in crate::agent) fn server_of(&self, tool: &str, separator: &str) -> Option<ServerTool> {
        server_of(&self.servers, tool, separator)
    }

    /// Returns whether a tool of the server was called and did its work, which proves that the server is connected. A
    /// model may also call a tool that is not there.
    pub(in crate::agent) fn has_answered(&self, server: &str) -> bool {
        self.server_calls.of(server).answered > 0
    }

    /// Notes that a server did not connect.
    pub(in crate::agent) fn server_failed(&mut self, server: String, why: String) {
        self.broken_servers.insert(server, why);
    }

    /// Notes that a server has connected.
    pub(in crate::agent) fn server_connected(&mut self, server: String) {
        self.connected_servers.insert(server);
    }

    /// Notes that the states of the servers are final. If one of the variant's own is broken, the agent is stopped at
    /// once, since its session would end in an error in any case.
    pub(in crate::agent) fn servers_are_settled(&mut self) {
        self.servers_settled = true;
    }

    /// Returns the error of a session with broken servers. Without an MCP server of its variant the agent is not tested.
    pub(super) fn server_trouble(&self) -> Option<TrialError> {
        let (server, why) = self.broken_servers().next()?;
        let mut message = format!("the MCP server `{server}` did not connect");
        if !why.is_empty() {
            message = format!("{message}: {why}");
        }
        Some(TrialError::new(ErrorKind::Mcp, message))
    }

    /// Forgets the state of a server, and returns why it was broken.
    pub(in crate::agent) fn forget_server(&mut self, server: &str) -> Option<String> {
        self.connected_servers.remove(server);
        self.broken_servers.remove(server)
    }

    /// Returns the servers of the variant that did not connect, with the reasons.
    pub(in crate::agent) fn broken_servers(&self) -> impl Iterator<Item = (&String, &String)> {
        self.servers
            .iter()
            .filter_map(|server| self.broken_servers.get_key_value(server))
    }

    pub(super) fn delivery(&self, server: &str) -> McpDelivery {
        let status = if self.broken_servers.contains_key(server) {
            Some(McpStatus::Failed)
        } else if self.servers_ready
            || self.connected_servers.contains(server)
            || self.has_answered(server)
        {
            Some(McpStatus::Connected)
        } else {
            None
        };
        let calls = self.server_calls.of(server);
        McpDelivery {
            status,
            calls: (!self.hides_servers).then_some(calls.started),
            failed_calls: (!self.hides_servers && !self.hides_failed_calls).then_some(calls.failed),
            tap: None,
        }
    }
}
