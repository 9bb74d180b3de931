//! `terca compare`: the arms of one run, or two runs, with the same tests and words as at the end of a run.
//!
//! A comparison is always of *arms* in *places* (`summary::Arms`). What is asked for here only chooses what is an arm and
//! what is a place, so that there is one way to compare and not three.

mod between;
mod matching;
mod within;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::agent::control::is_control;
use crate::analysis::summary::{By, Comparison, Verdict};
use crate::run::event::RunStatus;
use crate::run::state::RunState;
use crate::text::prose;

pub use between::{Arm, between};
pub use matching::{AccessChange, Matching, OneSided, mixed_access};
pub use within::within;

/// Of the document that `terca compare --format json` writes.
pub const COMPARED_VERSION: u32 = 3;

/// The answer of `terca compare`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The version of this document.
    pub version: u32,
    /// The suite's name.
    pub suite: String,
    /// The kind of `arm` and `baseline` of the comparisons. [`By::place`] says what `place` is.
    pub by: By,
    /// One, or the baseline's and the other.
    pub runs: Vec<String>,
    /// The name of the baseline.
    pub baseline: String,
    /// Differences in pass rate that are smaller make no difference.
    pub margin: f64,
    /// The common part of two runs; `null` within one.
    pub matching: Option<Matching>,
    /// The comparisons, one for each arm and place.
    pub comparisons: Vec<Comparison>,
}

/// The reason why there is nothing to compare.
#[derive(Debug, Error, PartialEq)]
pub enum CompareError {
    /// The run has not ended.
    #[error("the run {0} is still going on; it can be compared when it has ended")]
    GoingOn(String),
    /// The run has no trials.
    #[error("the run {0} has no trials")]
    Empty(String),
    /// All its trials are of agents that prove evals.
    #[error(
        "the run {0} has only agents that check evals (`oracle`, `nop`, `cheat`): there is nothing to compare"
    )]
    OnlyControls(String),
    /// Its experiments are the rows of an ablation.
    #[error(
        "the run {0} is an ablation: its experiments are rows of a design, which are not compared with each other"
    )]
    Ablation(String),
    /// There is no arm of this name.
    #[error("the run {run} has no {noun} `{name}`; its {noun}s are {known}")]
    Unknown {
        /// The run's name.
        run: String,
        /// The word for an arm.
        noun: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: String,
        /// The name that was probably meant.
        meant: Option<String>,
    },
    /// There is only one arm.
    #[error("the run {run} has one {noun} only, `{name}`: there is nothing to compare it with")]
    Alone {
        /// The run's name.
        run: String,
        /// The word for an arm.
        noun: &'static str,
        /// The name that was asked for.
        name: String,
        /// The kind of arms.
        by: By,
        /// Tells whether the run has environments that could be compared instead.
        has_environments: bool,
    },
    /// The suite's baseline is not in the run.
    #[error("the baseline `{name}` is not in the run {run}; its experiments are {known}")]
    NoBaseline {
        /// The run's name.
        run: String,
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The runs share no case.
    #[error("the runs {first} and {second} have no eval in common in the same variant\n{reasons}")]
    NothingInCommon {
        /// The first run.
        first: String,
        /// The second run.
        second: String,
        /// The parts that each has alone.
        reasons: String,
    },
    /// All common evals have changed.
    #[error("all evals that {first} and {second} have in common have changed")]
    AllChanged {
        /// The first run.
        first: String,
        /// The second run.
        second: String,
    },
}

impl Compared {
    /// 1 when an arm is worse than the baseline; 3 when something is undecided that was to be decided.
    pub fn exit_status(&self, require_conclusive: bool) -> u8 {
        let has = |verdict| {
            self.comparisons
                .iter()
                .any(|comparison| comparison.verdict == verdict)
        };
        if has(Verdict::Worse) {
            1
        } else if require_conclusive && has(Verdict::Inconclusive) {
            3
        } else {
            0
        }
    }
}

/// A run that has ended and has something in it.
fn check(state: &RunState) -> Result<(), CompareError> {
    if state.status() == RunStatus::Running {
        Err(CompareError::GoingOn(state.run().to_owned()))
    } else if state.trials().is_empty() {
        Err(CompareError::Empty(state.run().to_owned()))
    } else if state.ablation().is_some() {
        Err(CompareError::Ablation(state.run().to_owned()))
    } else if state
        .trials()
        .iter()
        .all(|trial| is_control(&trial.head.agent))
    {
        Err(CompareError::OnlyControls(state.run().to_owned()))
    } else {
        Ok(())
    }
}

fn unknown(run: &str, noun: &'static str, name: &str, known: &[&str]) -> CompareError {
    CompareError::Unknown {
        run: run.to_owned(),
        noun,
        name: name.to_owned(),
        known: prose::quoted_list(known, "and"),
        meant: prose::did_you_mean(name, known.iter().copied()).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests;
