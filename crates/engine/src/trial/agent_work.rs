//! The facts about an agent's work that tests need beside its workspace.
//!
//! They are kept with the trial, so that it can be graded again long after.

use std::io;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use terca_core::text::mask::Mask;
use terca_core::transcript::Usage;

use super::trial_run::TrialRun;
use crate::tree::{Dir, Options};

const FILE: &str = "agent-work.json";
/// The names of two million changed files take a part of it.
const LARGEST: u64 = 1 << 30;

/// The facts about an agent's work that tests need beside its workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentWork {
    /// It was the eval's own solution.
    pub is_reference: bool,
    /// The files that were changed, as paths relative to the workspace.
    pub changed: Vec<String>,
    pub usage: Usage,
    pub seconds: f64,
    /// The MCP servers with a tap, which saw all of their calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tapped_servers: Vec<String>,
    /// The reason why the work fails every test, whatever they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breach: Option<String>,
}

impl AgentWork {
    /// Writes the facts, with the secrets in the names of files masked.
    pub(super) fn write(&self, artifacts: &Utf8Path, mask: &Mask) -> io::Result<()> {
        let masked = self.masked(mask);
        fs_err::write(artifacts.join(FILE), serde_json::to_vec(&masked)?)
    }

    fn masked(&self, mask: &Mask) -> Self {
        AgentWork {
            changed: self.changed.iter().map(|path| mask.text(path)).collect(),
            ..self.clone()
        }
    }

    /// Writes the facts again after tests, which may have removed or changed them.
    pub(super) fn keep(&self, run: &TrialRun<'_>) -> io::Result<()> {
        let artifacts = run.folder.artifacts();
        let mask = &run.context.mask;
        let now = Dir::open_no_link(&artifacts).map(|dir| AgentWork::read(&dir));
        if matches!(now, Ok(Ok(now)) if now == self.masked(mask)) {
            return Ok(());
        }
        run.folder.tidy(&run.dirs)?;
        let _removed = Dir::open_no_link(&artifacts)?.remove_tree(FILE, &Options::default())?;
        self.write(&artifacts, mask)
    }

    pub(super) fn read(artifacts: &Dir) -> io::Result<Self> {
        Ok(serde_json::from_slice(
            &artifacts.read_file(FILE, LARGEST)?,
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_missing_is_named() {
        let temporary = tempfile::tempdir().unwrap();
        let error = AgentWork::read(&Dir::open(temporary.path()).unwrap()).unwrap_err();
        assert!(error.to_string().contains("agent-work.json"), "{error}");
    }
}
