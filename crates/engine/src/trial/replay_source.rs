//! The run whose recorded answers take the place of models.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::recording::{self, NEXT_STEP, OnMiss};
use terca_core::text::mask::Mask;
use terca_core::trial_error::ErrorKind;
use terca_gateway::{Recording, Replay};

use super::stage_error::StageError;
use crate::tree::{Dir, TreeError};

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

/// The facts of an agent whose session is replayed.
#[derive(Debug)]
pub(super) struct PlayerFacts<'a> {
    /// The directory that has all others of the agent.
    pub(super) directory: &'a Utf8Path,
    /// The version of its program.
    pub(super) agent_version: Option<String>,
    /// The secrets that must not be written down.
    pub(super) mask: &'a Mask,
}

impl ReplaySource {
    /// Returns whether there is a recording of the agent of a trial.
    pub fn has_recording(&self, trial: &Utf8Path) -> bool {
        let file = trial.join("artifacts").join(recording::FILE);
        Dir::open_no_link(&self.dir).is_ok_and(|dir| dir.open_file(&file).is_ok())
    }

    /// Opens the recording of an agent, by the place of its artifacts in its run.
    pub(super) fn open(
        &self,
        artifacts: &Utf8Path,
        player: PlayerFacts<'_>,
    ) -> Result<Replay, StageError> {
        let file = artifacts.join(recording::FILE);
        let refused = |problem: String| {
            let message = format!("{file} of the run {}: {problem}; {NEXT_STEP}", self.run);
            StageError::new(ErrorKind::Replay, message)
        };
        let opened = Dir::open_no_link(&self.dir).and_then(|dir| dir.open_file(&file));
        let opened = opened.map_err(|error| match error {
            error if error.is_not_found() => StageError::new(
                ErrorKind::Replay,
                format!(
                    "the run {} has no recording of this agent ({file}); {NEXT_STEP}",
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
            directory: player.directory.to_string(),
            agent_version: player.agent_version,
            mask: player.mask.clone(),
        })
    }
}
