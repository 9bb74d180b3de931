//! MCP servers, as written (`T` is text with places) and as an agent is given them (`T` is plain text).

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq)]
pub enum McpServer<T> {
    Stdio {
        command: T,
        args: Vec<T>,
        env: Vec<(String, T)>,
        cwd: Option<T>,
    },
    Remote {
        url: T,
        headers: Vec<(String, T)>,
        transport: RemoteTransport,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RemoteTransport {
    Http,
    Sse,
}

impl McpServer<String> {
    /// The same server for an agent that does not know `cwd`: a shell changes the directory first.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_stands_in_for_cwd() {
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
}
