//! The reasons why a worker cannot be started.

use thiserror::Error;

/// A worker that could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WorkerError {
    /// The command that starts it ended, or said something else.
    #[error("`{command}` did not start a worker: {words}")]
    NoGreeting {
        /// The command line.
        command: String,
        /// Its last words.
        words: String,
    },
    /// The program that was sent ended at once.
    #[error("the program that was sent does not run there: {0}")]
    DoesNotRun(String),
    /// It speaks another version of the protocol, or is another version of Terca.
    #[error("the worker is Terca {theirs}, and this is Terca {ours}")]
    OtherVersion {
        /// Its version.
        theirs: String,
        /// The version of this program.
        ours: String,
    },
    /// It cannot run the suite.
    #[error("{node} cannot run the suite: {reason}")]
    Refused {
        /// The node's name.
        node: String,
        /// The reason.
        reason: String,
        /// The next step.
        help: Option<String>,
    },
    /// It cannot look at its machine.
    #[error("{node} cannot be examined: {reason}")]
    NotInspected {
        /// The node's name.
        node: String,
        /// The reason.
        reason: String,
    },
    /// The connection ended before the worker was ready.
    #[error("the connection ended before the worker was ready: {0}")]
    Closed(String),
    /// The run was interrupted meanwhile.
    #[error("interrupted")]
    Interrupted,
}

impl WorkerError {
    /// Returns the next step.
    pub fn help(&self) -> Option<String> {
        match self {
            WorkerError::NoGreeting { .. } => Some(
                "run the command by hand; it must start `terca worker` with its input and output connected".to_owned(),
            ),
            WorkerError::DoesNotRun(_) => Some(
                "send a static build of Terca, made for musl, or install Terca there and give its path with `terca:`"
                    .to_owned(),
            ),
            WorkerError::OtherVersion { .. } => Some(
                "install the same version there, or set `terca: copy` to send this program".to_owned(),
            ),
            WorkerError::Refused { help, .. } => help.clone(),
            WorkerError::NotInspected { .. } => Some(
                "`TERCA_WORK_DIR` there names the directory that trials work in".to_owned(),
            ),
            WorkerError::Closed(_) | WorkerError::Interrupted => None,
        }
    }

    /// Returns whether another try may come to something else.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            WorkerError::NoGreeting { .. } | WorkerError::Closed(_)
        )
    }
}
