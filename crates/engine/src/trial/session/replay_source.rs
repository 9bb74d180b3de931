//! The run whose recorded answers take the place of models.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::recording::{self, OnMiss};
use terca_core::trial_error::ErrorKind;
use terca_gateway::{Recording, Replay};

use super::agent_dirs::AgentDirs;
use crate::tree::{Dir, TreeError};
use crate::trial::context::Context;
use crate::trial::stage_error::StageError;

/// The run whose recorded answers take the place of models.
#[derive(Debug)]
pub struct ReplaySource {
    /// Its name.
    pub run: String,
    /// Its directory.
    pub dir: Utf8PathBuf,
    /// What becomes of a request that was not recorded.
    pub on_miss: OnMiss,
}

impl ReplaySource {
    /// Returns whether there is a recording of the agent of a trial.
    pub fn has_recording(&self, trial: &Utf8Path) -> bool {
        let file = trial.join("artifacts").join(recording::FILE);
        Dir::open_no_link(&self.dir).is_ok_and(|dir| dir.open_file(&file).is_ok())
    }

    /// Opens the recording of an agent. It has the same place in its run as the agent has in this one.
    pub(super) fn open(
        &self,
        context: &Context,
        dirs: &AgentDirs,
        agent_version: Option<String>,
    ) -> Result<Replay, StageError> {
        let place = dirs.artifacts.strip_prefix(&context.run_dir);
        let file = place.unwrap_or(&dirs.artifacts).join(recording::FILE);
        let refused = |problem: String| {
            let message = format!("{file} of the run {}: {problem}", self.run);
            StageError::new(ErrorKind::Replay, message)
        };
        let opened = Dir::open_no_link(&self.dir).and_then(|dir| dir.open_file(&file));
        let opened = opened.map_err(|error| match error {
            error if error.is_not_found() => StageError::new(
                ErrorKind::Replay,
                format!(
                    "the run {} has no recording of this agent ({file})",
                    self.run
                ),
            ),
            TreeError::Stopped => StageError::Interrupted,
            error => refused(error.to_string()),
        })?;
        let recording = Recording::read(opened).map_err(|error| refused(error.to_string()))?;
        Ok(Replay {
            recording,
            on_miss: self.on_miss,
            directory: dirs.root().to_string(),
            agent_version,
            mask: context.mask.clone(),
        })
    }
}
