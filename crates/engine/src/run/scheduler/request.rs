//! What is to be run, and what came of it.

use terca_core::config::adaptive::Adaptive;
use terca_core::plan::TrialSpec;
use terca_core::run::limits::Limits;
use terca_core::run::state::RunState;

/// What is to be run, and how.
#[derive(Debug)]
pub struct RunRequest {
    pub suite: String,
    pub baseline: String,
    pub terca_version: String,
    pub seed: u64,
    pub limits: Limits,
    pub fail_fast: bool,
    /// How often a trial that ended in an error is tried again.
    pub retries: u32,
    /// Not all of the trials may be needed.
    pub adaptive: Option<Adaptive>,
    /// No trial is started when those that ended have cost as much.
    pub budget_usd: Option<f64>,
    pub trials: Vec<TrialSpec>,
    /// Positions in `trials`, in the order to start them; those that are spare wait until they are called.
    pub order: Vec<usize>,
    /// What has happened already, in a run that is resumed.
    pub past: Option<Past>,
}

/// The journal so far, folded.
#[derive(Debug, Clone)]
pub struct Past {
    pub state: RunState,
    pub next_sequence: u64,
}

/// A run that has come to an end.
#[derive(Debug)]
pub struct Finished {
    pub state: RunState,
    /// Ended by a signal.
    pub interrupted: bool,
}
