//! The work that an agent is asked to do, and its directories.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde_json::Value;
use terca_core::agent::mcp::McpServer;
use terca_core::agent::options::AgentOptions;
use terca_core::agent::{AgentChoice, Stdin};
use terca_core::config::gateway::GatewayMode;
use terca_core::config::sandbox::Sandbox;
use terca_core::wire::network::{HostPattern, Network};
use terca_core::wire::sent_parts::Sought;

use super::running_service::ServiceAddress;
use crate::process::fixed_root::{FixedRoot, shown};
use crate::workspace::trial_dirs::{CommandDirs, TrialDirs};

/// The work that an agent is asked to do, and the means for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentRequest<'a> {
    pub agent: &'a AgentChoice,
    pub model: Option<&'a str>,
    pub mcp_servers: &'a [(String, McpServer<String>)],
    /// The tools that it is not offered, by the name of their server.
    pub hide_tools: &'a BTreeMap<String, Vec<String>>,
    /// Its settings, with the options that are settings.
    pub config: Option<&'a Value>,
    pub options: &'a AgentOptions,
    pub prompt: &'a str,
    pub timeout: Duration,
    pub sandbox: Option<&'a Sandbox>,
    pub network: &'a Network,
    /// Hosts that it reaches beside its network.
    pub allow: &'a [HostPattern],
    pub gateway: GatewayMode,
    /// The suite or the command line says what part the gateway has.
    pub gateway_is_asked: bool,
    /// Paths that the gateway passes keys to, beside those that models are asked by.
    pub allow_paths: &'a [String],
    /// The parts of the variant that are looked for in its requests to models.
    pub sought: &'a [Sought],
    /// The services that it reaches.
    pub services: &'a [ServiceAddress],
}

/// The directories of one agent: where it works, and where its output is kept.
#[derive(Debug, Clone)]
pub(in crate::trial) struct AgentDirs {
    pub workspace: Utf8PathBuf,
    /// The way to the workspace, for Terca.
    pub here: Utf8PathBuf,
    pub home: Utf8PathBuf,
    pub tmp: Utf8PathBuf,
    /// The path at which the agent finds these directories.
    pub fixed_root: Option<FixedRoot>,
    /// For files that the agent reads and writes through Terca.
    pub io: Utf8PathBuf,
    /// For the program when it is asked for its version.
    pub probe: Utf8PathBuf,
    pub artifacts: Utf8PathBuf,
    pub transcript: Utf8PathBuf,
}

impl AgentDirs {
    /// An agent works in `dirs`; its output is kept in `artifacts`, its steps in `transcript`.
    pub(in crate::trial) fn new(
        dirs: &TrialDirs,
        artifacts: Utf8PathBuf,
        transcript: Utf8PathBuf,
    ) -> Self {
        AgentDirs {
            workspace: dirs.workspace.clone(),
            here: dirs.here(),
            home: dirs.home.clone(),
            tmp: dirs.tmp.clone(),
            fixed_root: dirs.fixed_root.clone(),
            io: dirs.io.clone(),
            probe: dirs.root.join("probe"),
            artifacts,
            transcript,
        }
    }

    /// Returns the directories that the agent finds in its environment.
    pub(in crate::trial) fn for_agent(&self) -> CommandDirs<'_> {
        CommandDirs {
            home: &self.home,
            tmp: &self.tmp,
            workspace: &self.workspace,
        }
    }

    /// Returns a text as the agent reads it: its directories have the paths that it finds.
    pub(in crate::trial) fn shown(&self, text: &str) -> String {
        shown(self.fixed_root.as_ref(), text)
    }

    /// Returns the directory that has all others, as the agent finds it.
    pub(in crate::trial) fn root(&self) -> String {
        self.shown(self.workspace.parent().unwrap_or(&self.workspace).as_str())
    }

    pub(in crate::trial) fn prompt_file(&self) -> Utf8PathBuf {
        self.io.join("prompt.txt")
    }

    /// Returns the file that an agent reads; `None` is an empty input.
    pub(in crate::trial) fn input(&self, stdin: &Stdin) -> Option<Utf8PathBuf> {
        match stdin {
            Stdin::Empty => None,
            Stdin::Prompt => Some(self.prompt_file()),
            Stdin::Text(_) => Some(self.stdin_file()),
        }
    }

    /// The directory for files that an agent wants to be kept.
    pub(in crate::trial) fn own_artifacts(&self) -> Utf8PathBuf {
        self.io.join("artifacts")
    }

    /// The prompt in the form that the agent needs, where it needs another.
    pub(in crate::trial) fn stdin_file(&self) -> Utf8PathBuf {
        self.io.join("stdin.txt")
    }
}
