//! The directories of one agent.

use camino::{Utf8Path, Utf8PathBuf};

use crate::workspace::trial_dirs::{CommandDirs, TrialDirs};

/// The directories of one agent: where it works, and where its output is kept.
#[derive(Debug, Clone)]
pub(in crate::trial) struct AgentDirs {
    pub(super) workspace: Utf8PathBuf,
    /// The way to the workspace, for Terca.
    pub(super) here: Utf8PathBuf,
    pub(super) home: Utf8PathBuf,
    pub(super) tmp: Utf8PathBuf,
    /// For files that the agent reads and writes through Terca.
    pub(super) io: Utf8PathBuf,
    /// For the program when it is asked for its version.
    pub(super) probe: Utf8PathBuf,
    pub(super) artifacts: Utf8PathBuf,
    pub(super) transcript: Utf8PathBuf,
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
            io: dirs.io.clone(),
            probe: dirs.root.join("probe"),
            artifacts,
            transcript,
        }
    }

    /// Returns the directories that the agent finds in its environment.
    pub(super) fn for_agent(&self) -> CommandDirs<'_> {
        CommandDirs {
            home: &self.home,
            tmp: &self.tmp,
            workspace: &self.workspace,
        }
    }

    /// Returns the directory that has all others of the agent.
    pub(super) fn root(&self) -> &Utf8Path {
        self.workspace.parent().unwrap_or(&self.workspace)
    }

    pub(super) fn prompt_file(&self) -> Utf8PathBuf {
        self.io.join("prompt.txt")
    }

    /// The directory for files that an agent wants to be kept.
    pub(super) fn own_artifacts(&self) -> Utf8PathBuf {
        self.io.join("artifacts")
    }

    /// The prompt in the form that the agent needs, where it needs another.
    pub(super) fn stdin_file(&self) -> Utf8PathBuf {
        self.io.join("stdin.txt")
    }
}
