//! Where the answers of models come from: the gateway of a run, or the recordings of another run.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::trial_error::ErrorKind;
use terca_core::wire::recording::{self, NEXT_STEP, OnMiss};
use terca_gateway::{Gateway, Recording};

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

impl ReplaySource {
    /// Returns whether there is a recording of the agent of a trial.
    pub fn has_recording(&self, trial: &Utf8Path) -> bool {
        let file = trial.join("artifacts").join(recording::FILE);
        Dir::open_no_link(&self.dir).is_ok_and(|dir| dir.open_file(&file).is_ok())
    }

    /// Opens the recording of an agent, by the place of its artifacts in its run.
    pub(super) fn open(&self, artifacts: &Utf8Path) -> Result<Recording, StageError> {
        let file = artifacts.join(recording::FILE);
        let run = &self.run;
        let error = |message: String| {
            let message = format!("{message}; {NEXT_STEP}");
            StageError::new(ErrorKind::Replay, message)
        };
        let refused = |problem: String| error(format!("{file} of the run {run}: {problem}"));
        let opened = Dir::open_no_link(&self.dir).and_then(|dir| dir.open_file(&file));
        let opened = opened.map_err(|failed| match failed {
            TreeError::Stopped => StageError::Interrupted,
            failed if failed.is_not_found() => error(format!(
                "the run {run} has no recording of this agent ({file})"
            )),
            failed => refused(failed.to_string()),
        })?;
        Recording::read(opened).map_err(|error| refused(error.to_string()))
    }
}
