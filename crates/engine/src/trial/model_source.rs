//! Where the answers of models come from: the gateway of a run, or the recordings of another run.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::text::mask::Mask;
use terca_core::trial_error::ErrorKind;
use terca_core::wire::recording::{self, NEXT_STEP, OnMiss};
use terca_gateway::{Gateway, Recording, Replay};

use super::stage_error::StageError;
use crate::host::environment::Host;
use crate::tree::{Dir, TreeError};

/// The gateway of a run. It is started when the first trial needs it.
#[derive(Debug, Default)]
pub struct RunGateway(OnceLock<Result<Gateway, String>>);

impl RunGateway {
    pub(super) fn get(&self, host: &Host) -> Result<&Gateway, StageError> {
        let gateway = self.0.get_or_init(|| {
            Gateway::start(&|name| host.get(name).map(str::to_owned))
                .map_err(|error| error.to_string())
        });
        gateway.as_ref().map_err(|error| {
            let message = format!("the gateway could not be started: {error}");
            StageError::new(ErrorKind::Internal, message)
        })
    }
}

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
