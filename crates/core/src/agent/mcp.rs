//! MCP servers, as written (`T` is text with places) and as an agent is given them (`T` is plain text).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::text::json::{names_only, object};

/// An MCP server.
///
/// Its JSON has the names of variables and headers only: secrets are in their values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, bound(deserialize = "T: Default + Deserialize<'de>"))]
pub enum McpServer<T> {
    /// A program that is spoken to by its standard input and output.
    Stdio {
        /// The program.
        command: T,
        /// Its arguments.
        args: Vec<T>,
        /// Its variables.
        #[serde(with = "names_only")]
        env: Vec<(String, T)>,
        /// The directory it is started in.
        cwd: Option<T>,
    },
    /// A server that is reached by its address.
    Remote {
        /// The address.
        url: T,
        /// The HTTP headers of each request.
        #[serde(with = "names_only")]
        headers: Vec<(String, T)>,
        /// The way to speak to it.
        #[serde(rename = "type")]
        transport: RemoteTransport,
    },
}

/// The way to speak to a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RemoteTransport {
    /// Streamable HTTP.
    Http,
    /// Server-sent events.
    Sse,
}

impl McpServer<String> {
    /// Returns the values of its variables or headers, in their order.
    pub fn values(&self) -> Vec<&str> {
        let (McpServer::Stdio { env: pairs, .. } | McpServer::Remote { headers: pairs, .. }) = self;
        pairs.iter().map(|(_, value)| value.as_str()).collect()
    }

    /// Returns the server for an agent that does not know `cwd`: a shell changes the directory first.
    pub fn with_cwd_wrapped(&self) -> Self {
        match self {
            McpServer::Stdio {
                command,
                args,
                env,
                cwd: Some(cwd),
            } => {
                let script = r#"cd "$0" && exec "$@""#;
                let wrapped = ["-c", script, cwd, command].map(str::to_owned);
                McpServer::Stdio {
                    command: "/bin/sh".into(),
                    args: wrapped.into_iter().chain(args.iter().cloned()).collect(),
                    env: env.clone(),
                    cwd: None,
                }
            }
            other => other.clone(),
        }
    }

    /// Returns the agent's name for a program, a server by HTTP or one by server-sent events.
    pub(super) fn kind<'a>(&self, [stdio, http, sse]: [&'a str; 3]) -> &'a str {
        match self {
            McpServer::Stdio { .. } => stdio,
            McpServer::Remote { transport, .. } => match transport {
                RemoteTransport::Http => http,
                RemoteTransport::Sse => sse,
            },
        }
    }

    /// Returns whether it speaks by server-sent events, which some agents do not support.
    pub(super) fn is_by_sse(&self) -> bool {
        self.kind(["", "", "sse"]) == "sse"
    }

    /// Returns the server as most agents want it in their settings, with the agent's name for its [kind](Self::kind).
    pub(super) fn typed_settings(&self, kinds: [&str; 3]) -> Value {
        let mut settings = match self {
            McpServer::Stdio { .. } => self.program_settings(),
            McpServer::Remote { url, headers, .. } => {
                json!({ "url": url, "headers": object(headers) })
            }
        };
        settings["type"] = json!(self.kind(kinds));
        settings
    }

    /// Returns how a program is started, as most agents want it; an empty object for a remote server.
    pub(super) fn program_settings(&self) -> Value {
        let McpServer::Stdio {
            command,
            args,
            env,
            cwd,
        } = self
        else {
            return json!({});
        };
        let mut settings = json!({ "command": command, "args": args, "env": object(env) });
        if let Some(cwd) = cwd {
            settings["cwd"] = json!(cwd);
        }
        settings
    }
}

/// Returns the settings of all servers, by their names.
pub(super) fn settings_by_name(
    servers: &[(String, McpServer<String>)],
    settings: impl Fn(&McpServer<String>) -> Value,
) -> Value {
    let all = servers
        .iter()
        .map(|(name, server)| (name.clone(), settings(server)));
    Value::Object(all.collect::<Map<_, _>>())
}

/// A tool of an MCP server, by the names that the variant and the server give them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerTool {
    pub server: String,
    pub tool: String,
}

/// Returns the server that the name of a tool begins with, followed by `separator`, and the rest of the name; the longest
/// server, where the name of one begins with another's. Characters that the name of a tool cannot have are `_` there.
pub(super) fn server_of(servers: &[String], tool: &str, separator: &str) -> Option<ServerTool> {
    let fits = servers.iter().filter_map(|server| {
        let tool = tool_at(server, tool, separator)?;
        Some(ServerTool {
            server: server.clone(),
            tool: tool.to_owned(),
        })
    });
    fits.max_by_key(|fit| fit.server.len())
}

/// Returns the name of a tool without its server and the separator, if it begins with them.
fn tool_at<'a>(server: &str, tool: &'a str, separator: &str) -> Option<&'a str> {
    let part = tool_name_part(server);
    // goose leaves blanks out, and has small letters only.
    let small = tool_name_part(&server.replace(char::is_whitespace, "")).to_lowercase();
    [&part, server, &small]
        .iter()
        .find_map(|name| tool.strip_prefix(*name)?.strip_prefix(separator))
}

/// Returns the name of a server as it is within the names of its tools.
fn tool_name_part(server: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    server.replace(|c| !allowed(c), "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_replaces_cwd() {
        let server = McpServer::Stdio {
            command: "node".into(),
            args: vec!["a b".into()],
            env: vec![],
            cwd: Some("/x y".into()),
        };
        let McpServer::Stdio {
            command, args, cwd, ..
        } = server.with_cwd_wrapped()
        else {
            panic!("not stdio")
        };
        assert_eq!((command.as_str(), cwd), ("/bin/sh", None));
        assert_eq!(
            args,
            ["-c", "cd \"$0\" && exec \"$@\"", "/x y", "node", "a b"]
        );
    }

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
            let expected = server.map(|server| ServerTool {
                server: server.to_owned(),
                tool: "search".to_owned(),
            });
            assert_eq!(server_of(&servers, tool, separator), expected, "{tool}");
        }
    }
}
