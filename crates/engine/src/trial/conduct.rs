//! What the tests know of the agent's work beside its workspace: kept with the trial, so that it can be graded
//! again long after.

use std::io;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use terca_core::transcript::Usage;

const FILE: &str = "conduct.json";

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Conduct {
    /// The session came to its end in time.
    pub(super) completed: bool,
    /// It was the eval's own solution.
    pub(super) is_reference: bool,
    /// What was changed, as paths relative to the workspace.
    pub(super) changed: Vec<String>,
    pub(super) usage: Usage,
    pub(super) seconds: f64,
}

impl Conduct {
    pub(super) fn write(&self, artifacts: &Utf8Path) -> io::Result<()> {
        fs_err::write(artifacts.join(FILE), serde_json::to_vec(self)?)
    }

    pub(super) fn read(artifacts: &Utf8Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs_err::read(
            artifacts.join(FILE),
        )?)?)
    }
}
