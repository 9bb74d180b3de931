//! The way an agent is started.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::agent::mcp::{McpServer, settings_by_name};
use crate::text::json::{merge, yaml};

/// The facts of a trial that an adapter may use to describe how its agent is started.
#[derive(Debug)]
pub struct Inputs<'a> {
    /// The model of the variant.
    pub model: Option<&'a str>,
    /// The MCP servers of the variant, by name.
    pub mcp_servers: &'a [(String, McpServer<String>)],
    /// The agent's own settings, of the variant.
    pub config: Option<&'a Value>,
    /// The command of the agent `command`.
    pub command: Option<&'a str>,
    /// The program that is started in place of the agent's own, for agents that are started by a shell.
    pub program: Option<&'a str>,
    /// The agent's home directory, outside the workspace.
    pub agent_home: &'a Utf8Path,
    /// The directory that the agent works in.
    pub workspace: &'a Utf8Path,
    /// True if the workspace is a git repository.
    pub git: bool,
    /// The text of the task.
    pub prompt: &'a str,
    /// True if everything runs as the superuser, which some agents refuse.
    pub superuser: bool,
    /// A file with the prompt.
    pub prompt_file: &'a Utf8Path,
    /// The file that the agent `command` may write its figures to.
    pub stats_file: &'a Utf8Path,
    /// The directory for files that the agent `command` wants to be kept.
    pub artifacts_dir: &'a Utf8Path,
    /// The names of the variables that the agent will be started with.
    pub variables: &'a BTreeSet<String>,
}

impl Inputs<'_> {
    /// Returns an adapter's settings with the user's `config` merged into them, so that the user has the last word.
    pub(super) fn with_config(&self, mut settings: Value) -> Value {
        if let Some(config) = self.config {
            merge(&mut settings, config);
        }
        settings
    }

    /// Returns the arguments that choose the model of the variant, if it has one.
    pub(super) fn model_option<'a>(&'a self, option: &'a str) -> impl Iterator<Item = &'a str> {
        let model = self.model.into_iter();
        model.flat_map(move |model| [option, model])
    }

    /// Returns a file with the MCP servers under the key `mcpServers`, if the variant has any.
    pub(super) fn mcp_file(
        &self,
        dir: &Utf8Path,
        name: &'static str,
        settings: impl Fn(&McpServer<String>) -> Value,
    ) -> Option<PlacedFile> {
        let servers = settings_by_name(self.mcp_servers, settings);
        let document = json!({ "mcpServers": servers });
        let has_servers = !self.mcp_servers.is_empty();
        has_servers.then(|| PlacedFile::json(dir, name, &document))
    }
}

/// The start of one trial's agent.
#[derive(Debug)]
pub struct Invocation {
    /// The program or built-in action.
    pub launch: Launch,
    /// Variables beside those that every agent gets.
    pub env: Vec<(String, String)>,
    /// Its standard input.
    pub stdin: Stdin,
    /// Settings to write before it starts.
    pub files: Vec<PlacedFile>,
    /// Files it leaves behind that say more than its output does.
    pub side_files: Vec<SideFile>,
}

impl Invocation {
    /// Returns the start of a program that reads the prompt from its standard input and needs no files.
    pub(super) fn program(program: &str, args: &[&str], env: &[(&str, &str)]) -> Self {
        Invocation::of(Launch::program(program, args), env)
    }

    /// Returns a start without files.
    pub(super) fn of(launch: Launch, env: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Invocation {
            launch,
            env: env.iter().map(owned).collect(),
            stdin: Stdin::Prompt,
            files: Vec::new(),
            side_files: Vec::new(),
        }
    }
}

/// Standard input of an agent.
#[derive(Debug, PartialEq)]
pub enum Stdin {
    /// Nothing.
    Empty,
    /// The prompt.
    Prompt,
    /// The prompt as this agent must get it, so that it arrives as it was written.
    Text(String),
}

impl Stdin {
    /// Returns the prompt for agents that take one which begins with `/` for a command of their own. It would never reach
    /// the model; an empty line in front prevents that.
    pub(super) fn no_command(prompt: &str) -> Self {
        if prompt.trim_start().starts_with('/') {
            Stdin::Text(format!("\n{prompt}"))
        } else {
            Stdin::Prompt
        }
    }
}

/// The program or built-in action of an agent.
#[derive(Debug, PartialEq)]
pub enum Launch {
    /// A program on `PATH`.
    Program {
        /// Its name.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// A shell command.
    Shell(String),
    /// Terca's client of the Agent Client Protocol, which starts an agent and speaks to it.
    AcpClient {
        /// The file with the client's settings.
        settings: Utf8PathBuf,
        /// The agent: a program or a shell command.
        agent: Box<Launch>,
    },
    /// Copies the eval's `_solution/` into the workspace.
    LaySolution,
    /// Tries the [tricks](super::cheat::TRICKS).
    Cheat,
    /// Does nothing.
    Nothing,
}

impl Launch {
    /// Adds arguments to the command line of a program. A shell command stays as it is.
    pub fn add_arguments(&mut self, more: Vec<String>) {
        match self {
            Launch::Program { args, .. } => args.extend(more),
            Launch::AcpClient { agent, .. } => agent.add_arguments(more),
            _ => {}
        }
    }

    /// Returns the command that the suite has for the agent.
    pub(super) fn command(inputs: &Inputs<'_>) -> Self {
        Launch::Shell(inputs.command.unwrap_or("false").to_owned())
    }

    pub(super) fn program(program: &str, args: &[&str]) -> Self {
        Launch::Program {
            program: program.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        }
    }
}

/// A file that is written before the agent starts.
#[derive(Debug)]
pub struct PlacedFile {
    /// Its place.
    pub path: Utf8PathBuf,
    /// Its text.
    pub content: String,
    /// The name under which a copy is kept in the artifacts.
    pub artifact: &'static str,
}

impl PlacedFile {
    /// Returns a JSON file that has its own name in the artifacts.
    pub(super) fn json(dir: &Utf8Path, name: &'static str, content: &Value) -> Self {
        PlacedFile {
            path: dir.join(name),
            content: format!("{content:#}\n"),
            artifact: name,
        }
    }

    /// Returns a YAML file that has its own name in the artifacts.
    pub(super) fn yaml(dir: &Utf8Path, name: &'static str, content: &Value) -> Self {
        PlacedFile {
            content: yaml(content),
            ..PlacedFile::json(dir, name, content)
        }
    }
}

/// A file that the agent writes and its decoder reads.
#[derive(Debug, Clone)]
pub struct SideFile {
    /// The directory to look in.
    pub dir: Utf8PathBuf,
    /// A glob below `dir`.
    pub glob: &'static str,
    /// The name that the decoder knows the file by, and that it has in the artifacts.
    pub label: &'static str,
}

impl SideFile {
    pub(super) fn new(
        dir: impl Into<Utf8PathBuf>,
        glob: &'static str,
        label: &'static str,
    ) -> Self {
        SideFile {
            dir: dir.into(),
            glob,
            label,
        }
    }

    /// Returns whether it is one document that is rewritten again and again, not lines that are appended. Such a file
    /// is read when the agent has ended.
    pub fn is_document(&self) -> bool {
        is_document(self.label)
    }
}

/// Returns whether the side file of this label is one document.
pub(super) fn is_document(label: &str) -> bool {
    label.ends_with(".json")
}
