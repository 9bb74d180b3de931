//! The reason why a trial does not go on to its next stage.

use std::io;

use terca_core::agent::Profile;
use terca_core::config::sandbox::Image;
use terca_core::grade::TestSpec;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::text::prose;
use terca_core::trial_error::{ErrorKind, TrialError};

use crate::process::supervise::SuperviseError;
use crate::tree::{TreeError, What};
use crate::workspace::sealed_suite::SealBroken;

/// The reason why a trial does not go on to its next stage.
#[derive(Debug)]
pub(super) enum StageError {
    /// The trial ends in an error.
    Error(TrialError),
    /// The run was interrupted.
    Interrupted,
}

impl StageError {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        StageError::Error(TrialError::new(kind, message))
    }

    /// Makes an error of the set-up, which names the step that failed.
    pub(super) fn setup(step: &str, error: &dyn std::fmt::Display) -> Self {
        StageError::new(ErrorKind::Setup, format!("{step}: {error}"))
    }

    /// Makes an error of the set-up from a tree that could not be copied. An interrupt stays one.
    pub(super) fn setup_tree(step: &str, error: TreeError) -> Self {
        match error {
            TreeError::Stopped => StageError::Interrupted,
            other => StageError::setup(step, &other),
        }
    }

    /// Makes the error of a supervisor that died where nothing inside can end it.
    pub(super) fn killed_from_outside() -> Self {
        let message = "the supervisor was killed from outside of the sandbox: by a person, or by the system for want of memory";
        StageError::new(ErrorKind::Internal, message)
    }

    /// Makes an error of a program that an image does not have, or that does not run in a container of it.
    pub(super) fn not_in_image(image: &Image, program: &str, reason: &str) -> Self {
        // Commands of the suite, and agents of its own.
        let kind = if program == "/bin/sh" {
            ErrorKind::Setup
        } else {
            ErrorKind::AgentMissing
        };
        let message = format!("`{program}` cannot be started in the image `{image}`: {reason}");
        StageError::new(kind, message)
    }

    /// Returns whether the machine refused something.
    pub(super) fn is_of_machine(&self) -> bool {
        matches!(self, StageError::Error(error) if error.kind == ErrorKind::Internal)
    }

    /// Ends a report with this, and without a score.
    pub(super) fn end(self, report: &mut TrialReport) {
        report.score = None;
        match self {
            StageError::Interrupted => report.status = Status::Interrupted,
            StageError::Error(error) => {
                report.status = Status::Error;
                report.error = Some(error);
            }
        }
    }

    /// Adds to the message that it is about the judge of a test.
    pub(super) fn of_judge(self, test: &TestSpec, judge: &Profile) -> Self {
        match self {
            StageError::Interrupted => StageError::Interrupted,
            StageError::Error(TrialError { kind, message }) => StageError::new(
                kind,
                format!(
                    "test `{}`: the judge ({}): {message}",
                    test.name, judge.name
                ),
            ),
        }
    }
}

/// Says which limit of a workspace an operation has met, between two parts of a sentence. `None`: it ended for another
/// reason.
pub(super) fn too_large(error: &TreeError, start: &str, end: &str) -> Option<String> {
    let TreeError::TooLarge { what, limit } = *error else {
        return None;
    };
    let size = prose::bytes(limit);
    Some(match what {
        What::Bytes => format!("{start} more than {size} {end} (limits.disk)"),
        What::Entries => format!("{start} more than {limit} files and directories {end}"),
        What::PathLength => format!("{start} a path of more than {limit} bytes {end}"),
        What::PathBytes => format!("{start} paths of more than {size} together {end}"),
    })
}

/// Returns the reason why an agent's work is not tested, where it is too large.
pub(super) fn left_too_much(error: &TreeError) -> Option<String> {
    too_large(error, "the agent left", "in its workspace")
}

/// The machine refused something, or the run was interrupted.
impl From<io::Error> for StageError {
    fn from(error: io::Error) -> Self {
        match error.downcast::<TreeError>() {
            Ok(error) => error.into(),
            Err(error) => StageError::new(ErrorKind::Internal, error.to_string()),
        }
    }
}

/// The machine refused something, or the run was interrupted.
impl From<TreeError> for StageError {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::Stopped => StageError::Interrupted,
            other => StageError::new(ErrorKind::Internal, other.to_string()),
        }
    }
}

/// The run's own files are not to be trusted any more.
impl From<SealBroken> for StageError {
    fn from(error: SealBroken) -> Self {
        StageError::new(ErrorKind::Setup, error.to_string())
    }
}

impl From<SuperviseError> for StageError {
    fn from(error: SuperviseError) -> Self {
        StageError::new(ErrorKind::Internal, error.to_string())
    }
}
