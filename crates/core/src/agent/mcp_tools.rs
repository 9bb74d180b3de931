//! Whose tool it is (agents put the name of its MCP server before the name of a tool), and what became of the servers.

use std::collections::BTreeMap;

use crate::agent::delivery::{McpDelivery, McpStatus};

/// The server that the tool's name begins with, followed by `separator`; the longest, where one server's name begins
/// with another's. What a tool's name cannot have stands as `_` there.
pub(super) fn server_of(servers: &[String], tool: &str, separator: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let named = |server: &&String| {
        let plain: String = server
            .chars()
            .map(|c| if allowed(c) { c } else { '_' })
            .collect();
        let begins = |name: &str| {
            tool.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(separator))
        };
        begins(&plain) || begins(server)
    };
    servers
        .iter()
        .filter(named)
        .max_by_key(|server| server.len())
        .cloned()
}

/// What is known of the servers that an agent was given, when every call of their tools was counted.
pub(super) fn delivery(
    servers: &[String],
    calls: &BTreeMap<String, u64>,
    status: impl Fn(&String) -> Option<McpStatus>,
) -> BTreeMap<String, McpDelivery> {
    let of = |server: &String| McpDelivery {
        status: status(server),
        calls: Some(calls.get(server).copied().unwrap_or(0)),
    };
    servers
        .iter()
        .map(|server| (server.clone(), of(server)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_that_fits() {
        let servers = ["my", "my_docs", "a b", "c.d"].map(str::to_owned);
        for (tool, separator, server) in [
            ("my__search", "__", Some("my")),
            ("my_docs__search", "__", Some("my_docs")),
            ("my_search", "_", Some("my")),
            ("a_b__search", "__", Some("a b")),
            ("c.d_search", "_", Some("c.d")),
            ("mysearch", "_", None),
            ("write_file", "_", None),
        ] {
            assert_eq!(
                server_of(&servers, tool, separator).as_deref(),
                server,
                "{tool}"
            );
        }
    }
}
