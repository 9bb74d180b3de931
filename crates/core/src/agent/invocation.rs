//! How an agent is started: what is known beforehand, and what an adapter makes of it.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use crate::agent::mcp::McpServer;

/// What an adapter may use to describe how its agent is started.
#[derive(Debug)]
pub struct Inputs<'a> {
    pub model: Option<&'a str>,
    pub mcp_servers: &'a [(String, McpServer<String>)],
    pub config: Option<&'a serde_json::Value>,
    /// The command of the agent `command`.
    pub command: Option<&'a str>,
    /// The agent's home directory, outside the workspace.
    pub agent_home: &'a Utf8Path,
    pub workspace: &'a Utf8Path,
    /// Whether the workspace is a git repository.
    pub git: bool,
    pub prompt: &'a str,
    /// A name for the session, where the agent takes one: a random UUID.
    pub session_id: &'a str,
    /// Whether everything runs as the superuser, which some agents refuse.
    pub superuser: bool,
    pub prompt_file: &'a Utf8Path,
    pub stats_file: &'a Utf8Path,
    /// The names of the variables that the agent will be started with.
    pub variables: &'a BTreeSet<String>,
}

/// How one trial's agent is started.
#[derive(Debug)]
pub struct Invocation {
    pub launch: Launch,
    pub env: Vec<(String, String)>,
    pub stdin: Stdin,
    /// Settings to write before it starts.
    pub files: Vec<PlacedFile>,
    /// Files it leaves behind that say more than its output does.
    pub side_files: Vec<SideFile>,
}

#[derive(Debug, PartialEq)]
pub enum Stdin {
    Empty,
    Prompt,
    /// The prompt as this agent has to be given it, to arrive as it was written.
    Text(String),
}

#[derive(Debug, PartialEq)]
pub enum Launch {
    Program {
        program: String,
        args: Vec<String>,
    },
    Shell(String),
    /// Lays the eval's `_solution/` over the workspace.
    LaySolution,
    /// Tries the [`tricks`](super::cheat::tricks).
    Cheat,
    Nothing,
}

#[derive(Debug)]
pub struct PlacedFile {
    pub path: Utf8PathBuf,
    pub content: String,
    /// The name under which a copy is kept in the artifacts.
    pub artifact: &'static str,
}

#[derive(Debug)]
pub struct SideFile {
    pub dir: Utf8PathBuf,
    /// A glob below `dir`.
    pub glob: &'static str,
    /// What the decoder knows it by, and its name in the artifacts.
    pub label: &'static str,
}

impl SideFile {
    /// Whether it is one document, written anew again and again, rather than lines that become more. Such a file is
    /// read when the agent has ended.
    pub fn is_document(&self) -> bool {
        self.label.ends_with(".json")
    }
}
