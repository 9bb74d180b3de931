//! What each agent calls the tools that a script speaks of.

use serde_json::{Value, json};

/// Something a model has its agent do.
#[derive(Debug, Clone)]
pub enum Action {
    /// Write a file, its path relative to the workspace.
    Write {
        path: String,
        content: String,
    },
    Run {
        command: String,
    },
    /// Call a tool of an MCP server.
    Mcp {
        server: String,
        tool: String,
        arguments: Value,
    },
}

impl Action {
    pub fn write(path: &str, content: &str) -> Self {
        Action::Write {
            path: path.into(),
            content: content.into(),
        }
    }

    pub fn run(command: &str) -> Self {
        Action::Run {
            command: command.into(),
        }
    }

    pub fn mcp(server: &str, tool: &str, arguments: Value) -> Self {
        Action::Mcp {
            server: server.into(),
            tool: tool.into(),
            arguments,
        }
    }
}

/// A call of a tool as it goes over the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub name: String,
    /// The Responses protocol keeps tools of MCP servers in one.
    pub namespace: Option<String>,
    /// An object, or a string for tools that take free text.
    pub arguments: Value,
}

impl Call {
    fn new(name: impl Into<String>, arguments: Value) -> Self {
        Call {
            name: name.into(),
            namespace: None,
            arguments,
        }
    }
}

/// The tools of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    GeminiCli,
    QwenCode,
    ClaudeCode,
    Codex,
    Opencode,
    Goose,
    Copilot,
    Cline,
    Pi,
    Kilo,
    Droid,
    Aider,
    MiniSweAgent,
    Continue,
}

impl Vocabulary {
    /// Whether the agent offers its model tools. One that does not is told what to do in words.
    pub fn has_tools(self) -> bool {
        self != Vocabulary::Aider
    }

    /// What the model says, with the actions that are said rather than called.
    pub fn spoken(self, text: &str, actions: &[Action]) -> String {
        let mut said = text.to_owned();
        for action in actions.iter().filter(|_| !self.has_tools()) {
            match action {
                Action::Write { path, content } => said.push_str(&edit_block(path, content)),
                Action::Run { command } => said.push_str(&format!("\n\n```bash\n{command}\n```\n")),
                Action::Mcp { server, .. } => {
                    panic!("this agent has no MCP servers, so not `{server}`")
                }
            }
        }
        said
    }

    /// The call for an action. Some agents want absolute paths.
    pub fn call(self, action: &Action, workspace: &str) -> Call {
        match action {
            Action::Write { path, content } => self.write(path, content, workspace),
            Action::Run { command } => self.run(command),
            Action::Mcp {
                server,
                tool,
                arguments,
            } => self.mcp(server, tool, arguments),
        }
    }

    fn write(self, path: &str, content: &str, workspace: &str) -> Call {
        let absolute = format!("{workspace}/{path}");
        match self {
            Vocabulary::GeminiCli => {
                Call::new("write_file", json!({"file_path": path, "content": content}))
            }
            Vocabulary::QwenCode => Call::new(
                "write_file",
                json!({"file_path": absolute, "content": content}),
            ),
            Vocabulary::Droid => {
                Call::new("Create", json!({"file_path": path, "content": content}))
            }
            Vocabulary::ClaudeCode => {
                Call::new("Write", json!({"file_path": absolute, "content": content}))
            }
            Vocabulary::Copilot => {
                Call::new("create", json!({"path": absolute, "file_text": content}))
            }
            Vocabulary::Cline => {
                Call::new("editor", json!({"path": absolute, "new_text": content}))
            }
            Vocabulary::Opencode | Vocabulary::Kilo => {
                Call::new("write", json!({"filePath": absolute, "content": content}))
            }
            Vocabulary::Goose | Vocabulary::Pi => {
                Call::new("write", json!({"path": path, "content": content}))
            }
            Vocabulary::Continue => {
                Call::new("Write", json!({"filepath": path, "content": content}))
            }
            // A shell is all it has.
            Vocabulary::MiniSweAgent => self.run(&format!("cat > {path} <<'END'\n{content}END")),
            Vocabulary::Aider => unreachable!("it is told in words"),
            Vocabulary::Codex => {
                let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
                let patch =
                    format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n");
                Call::new("apply_patch", Value::String(patch))
            }
        }
    }

    fn run(self, command: &str) -> Call {
        let described = json!({"command": command, "description": "as the script says"});
        match self {
            Vocabulary::GeminiCli => Call::new("run_shell_command", described),
            Vocabulary::QwenCode => {
                let mut arguments = described;
                arguments["is_background"] = json!(false);
                Call::new("run_shell_command", arguments)
            }
            Vocabulary::ClaudeCode => Call::new("Bash", described),
            Vocabulary::Opencode | Vocabulary::Kilo => Call::new("bash", described),
            Vocabulary::Droid => Call::new(
                "Execute",
                json!({"command": command, "summary": "as the script says"}),
            ),
            Vocabulary::Goose => Call::new("shell", json!({"command": command})),
            Vocabulary::Copilot => {
                // By default it reports back after thirty seconds, while the command goes on.
                let mut arguments = described;
                arguments["initial_wait"] = json!(600);
                Call::new("bash", arguments)
            }
            Vocabulary::Cline => Call::new("run_commands", json!({"commands": [command]})),
            Vocabulary::Pi => Call::new("bash", json!({"command": command})),
            Vocabulary::Continue => Call::new("Bash", json!({"command": command})),
            Vocabulary::MiniSweAgent => Call::new("bash", json!({"command": command})),
            Vocabulary::Aider => unreachable!("it is told in words"),
            // By default it reports back after ten seconds, while the command goes on.
            Vocabulary::Codex => Call::new(
                "exec_command",
                json!({"cmd": command, "yield_time_ms": 30_000}),
            ),
        }
    }

    /// # Panics
    /// For an agent that has no MCP.
    fn mcp(self, server: &str, tool: &str, arguments: &Value) -> Call {
        let arguments = arguments.clone();
        match self {
            Vocabulary::GeminiCli => Call::new(format!("mcp_{server}_{tool}"), arguments),
            Vocabulary::QwenCode | Vocabulary::ClaudeCode => {
                Call::new(format!("mcp__{server}__{tool}"), arguments)
            }
            Vocabulary::Goose | Vocabulary::Cline => {
                Call::new(format!("{server}__{tool}"), arguments)
            }
            Vocabulary::Copilot => Call::new(format!("{server}-{tool}"), arguments),
            Vocabulary::Opencode | Vocabulary::Kilo => {
                Call::new(format!("{server}_{tool}"), arguments)
            }
            Vocabulary::Droid => Call::new(format!("{server}___{tool}"), arguments),
            // Without a word about whose it is.
            Vocabulary::Continue => Call::new(tool, arguments),
            Vocabulary::MiniSweAgent | Vocabulary::Aider | Vocabulary::Pi => {
                panic!("this agent has no MCP servers")
            }
            Vocabulary::Codex => Call {
                name: tool.into(),
                namespace: Some(format!("mcp__{server}")),
                arguments,
            },
        }
    }
}

/// A new file, as aider's `diff` format has it.
fn edit_block(path: &str, content: &str) -> String {
    format!("\n\n{path}\n```\n<<<<<<< SEARCH\n=======\n{content}>>>>>>> REPLACE\n```\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_spoken_to_in_its_own_words() {
        let write = Action::write("a/b.txt", "one\ntwo\n");
        let call = Vocabulary::ClaudeCode.call(&write, "/w");
        assert_eq!(
            (call.name.as_str(), &call.arguments["file_path"]),
            ("Write", &json!("/w/a/b.txt"))
        );
        let call = Vocabulary::GeminiCli.call(&write, "/w");
        assert_eq!(
            (call.name.as_str(), &call.arguments["file_path"]),
            ("write_file", &json!("a/b.txt"))
        );
        let call = Vocabulary::Codex.call(&write, "/w");
        assert_eq!(
            call.arguments,
            "*** Begin Patch\n*** Add File: a/b.txt\n+one\n+two\n*** End Patch\n"
        );

        let spoken = Vocabulary::Aider.spoken("Here.", &[write]);
        assert_eq!(
            spoken,
            "Here.\n\na/b.txt\n```\n<<<<<<< SEARCH\n=======\none\ntwo\n>>>>>>> REPLACE\n```\n"
        );

        let mcp = Action::mcp("tiny", "magic", json!({"x": 1}));
        assert_eq!(Vocabulary::GeminiCli.call(&mcp, "").name, "mcp_tiny_magic");
        assert_eq!(Vocabulary::QwenCode.call(&mcp, "").name, "mcp__tiny__magic");
        assert_eq!(
            Vocabulary::Codex.call(&mcp, "").namespace.as_deref(),
            Some("mcp__tiny")
        );
    }
}
