//! Actions of which a script speaks, and the calls of tools that they become.

use serde_json::Value;

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
    /// Have a sub-agent do something, with a conversation of its own.
    Delegate {
        prompt: String,
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

    pub fn delegate(prompt: &str) -> Self {
        Action::Delegate {
            prompt: prompt.into(),
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
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        Call {
            name: name.into(),
            namespace: None,
            arguments,
        }
    }
}

/// A file that a model has its agent write.
#[derive(Debug)]
pub struct NewFile<'a> {
    /// Relative to the workspace.
    pub path: &'a str,
    pub content: &'a str,
    pub workspace: &'a str,
}

impl NewFile<'_> {
    /// Its path for agents that want an absolute one.
    pub fn absolute(&self) -> String {
        format!("{}/{}", self.workspace, self.path)
    }
}

/// The calls with which one agent's tools are called.
#[derive(Debug, Clone, Copy)]
pub struct Tools {
    pub write: fn(&NewFile<'_>) -> Call,
    /// A command of the shell.
    pub run: fn(&str) -> Call,
    /// A tool of an MCP server, with its arguments. `None` for an agent that has no MCP servers.
    pub mcp: Option<fn(&str, &str, Value) -> Call>,
    /// A sub-agent with this prompt, whose end is waited for. `None` for an agent that has none.
    pub delegate: Option<fn(&str) -> Vec<Call>>,
}

/// How a model has its agent act.
#[derive(Debug, Clone, Copy)]
pub enum Vocabulary {
    Tools(Tools),
    /// The agent offers no tools. It is told what to do in words.
    Words,
}

impl Vocabulary {
    /// The calls for these actions, and what the model says: its text, with the actions that are said.
    ///
    /// # Panics
    /// For a tool of an MCP server, or a sub-agent, where the agent has none.
    pub fn put(self, text: &str, actions: &[Action], workspace: &str) -> (String, Vec<Call>) {
        match self {
            Vocabulary::Tools(tools) => {
                let calls = actions
                    .iter()
                    .flat_map(|action| tools.calls(action, workspace));
                (text.to_owned(), calls.collect())
            }
            Vocabulary::Words => {
                let said: String = actions.iter().map(spoken).collect();
                (format!("{text}{said}"), Vec::new())
            }
        }
    }
}

impl Tools {
    fn calls(self, action: &Action, workspace: &str) -> Vec<Call> {
        match action {
            Action::Write { path, content } => vec![(self.write)(&NewFile {
                path,
                content,
                workspace,
            })],
            Action::Run { command } => vec![(self.run)(command)],
            Action::Mcp {
                server,
                tool,
                arguments,
            } => {
                let call = self.mcp.expect("an agent with MCP servers");
                vec![call(server, tool, arguments.clone())]
            }
            Action::Delegate { prompt } => {
                let calls = self.delegate.expect("an agent with sub-agents");
                calls(prompt)
            }
        }
    }
}

fn spoken(action: &Action) -> String {
    match action {
        Action::Write { path, content } => edit_block(path, content),
        Action::Run { command } => format!("\n\n```bash\n{command}\n```\n"),
        Action::Mcp { server, .. } => {
            panic!("this agent has no MCP servers, so not `{server}`")
        }
        Action::Delegate { .. } => panic!("this agent has no sub-agents"),
    }
}

/// A new file, as aider's `diff` format has it.
fn edit_block(path: &str, content: &str) -> String {
    format!("\n\n{path}\n```\n<<<<<<< SEARCH\n=======\n{content}>>>>>>> REPLACE\n```\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agents::{AIDER, CLAUDE, CODEX, GEMINI, QWEN, RealAgent};

    fn call(agent: RealAgent, action: &Action) -> Call {
        let (_, calls) = agent.vocabulary.put("", std::slice::from_ref(action), "/w");
        calls[0].clone()
    }

    #[test]
    fn every_agent_is_spoken_to_in_its_own_words() {
        let write = Action::write("a/b.txt", "one\ntwo\n");
        let written = call(CLAUDE, &write);
        assert_eq!(
            (written.name.as_str(), &written.arguments["file_path"]),
            ("Write", &json!("/w/a/b.txt"))
        );
        let written = call(GEMINI, &write);
        assert_eq!(
            (written.name.as_str(), &written.arguments["file_path"]),
            ("write_file", &json!("a/b.txt"))
        );
        assert_eq!(
            call(CODEX, &write).arguments,
            "*** Begin Patch\n*** Add File: a/b.txt\n+one\n+two\n*** End Patch\n"
        );

        let (spoken, calls) = AIDER.vocabulary.put("Here.", &[write], "/w");
        assert_eq!(
            spoken,
            "Here.\n\na/b.txt\n```\n<<<<<<< SEARCH\n=======\none\ntwo\n>>>>>>> REPLACE\n```\n"
        );
        assert_eq!(calls, []);

        let mcp = Action::mcp("tiny", "magic", json!({"x": 1}));
        assert_eq!(call(GEMINI, &mcp).name, "mcp_tiny_magic");
        assert_eq!(call(QWEN, &mcp).name, "mcp__tiny__magic");
        assert_eq!(call(CODEX, &mcp).namespace.as_deref(), Some("mcp__tiny"));
    }
}
