//! The request for a run, and its end.

use std::collections::BTreeMap;

use terca_core::ablation::Ablation;
use terca_core::config::adaptive::Adaptive;
use terca_core::config::verdict::VerdictSettings;
use terca_core::plan::descriptions::Descriptions;
use terca_core::plan::{TrialSpec, VariantName};
use terca_core::run::limits::Limits;
use terca_core::run::state::RunState;

use crate::run::trial_thread::GivenUp;

/// The trials of a run, and how they are run.
#[derive(Debug)]
pub struct RunRequest {
    /// The suite's name.
    pub suite: String,
    /// The experiment that the others are compared with.
    pub baseline: String,
    /// The figure that experiments are compared by, and the smallest difference that matters.
    pub verdict: VerdictSettings,
    /// The variants that differ from the baseline in nothing but their name.
    pub identical_to_baseline: Vec<VariantName>,
    /// The version of Terca.
    pub terca_version: String,
    /// The seed of the order, and of the waits before further attempts.
    pub seed: u64,
    /// The number of trials in flight, for each agent.
    pub limits: Limits,
    /// No further trial starts after the first that does not pass.
    pub fail_fast: bool,
    /// The number of further attempts at a trial that ended in an error.
    pub retries: u32,
    /// The bounds of adaptive repetitions: not all of the trials may be needed.
    pub adaptive: Option<Adaptive>,
    /// The descriptions of evals, variants and tests.
    pub descriptions: Option<Box<Descriptions>>,
    /// No further trial starts once those that ended have cost this much.
    pub budget_usd: Option<f64>,
    /// The run whose recorded answers take the place of models.
    pub replay_of: Option<String>,
    /// The run whose failures are run again, where there is nothing else.
    pub failed_in: Option<String>,
    /// The design of an ablation, whose rows are the experiments.
    pub ablation: Option<Box<Ablation>>,
    /// The trials, in the order of their ids.
    pub trials: Vec<TrialSpec>,
    /// Positions in `trials`, in the order to start them; spare trials wait until a round needs them.
    pub order: Vec<usize>,
    /// The past of a run that is resumed.
    pub past: Option<Past>,
}

/// The journal so far, folded.
#[derive(Debug, Clone)]
pub struct Past {
    /// The state that the events come to.
    pub state: RunState,
    /// The number of the next event.
    pub next_sequence: u64,
}

/// A run that has come to an end.
#[derive(Debug)]
pub struct Finished {
    /// Its last state.
    pub state: RunState,
    /// Tells whether a signal ended it.
    pub interrupted: bool,
    /// The places of slots that were given up, and the reasons.
    pub given_up: BTreeMap<String, GivenUp>,
    /// No slot was left.
    pub is_without_slots: bool,
    /// The files of its record that somebody changed meanwhile. They have been restored.
    pub changed: Vec<&'static str>,
}
