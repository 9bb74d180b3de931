//! `terca compare`: the arms of one run, or two runs, with the same tests and words as at the end of a run.
//!
//! A comparison is always of *arms* in *places* (`summary::Arms`). What is asked for here only chooses what is an arm and
//! what is a place, so that there is one way to compare and not three.

mod matching;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::agent::control::is_control;
use crate::analysis::distinct::distinct;
use crate::analysis::summary::{ArmTrial, Arms, By, Comparison, Verdict, compare_arms};
use crate::plan::fingerprint::CaseFingerprint;
use crate::run::event::{RunStatus, TrialHead};
use crate::run::state::RunState;
use crate::text::prose;

pub use matching::{AccessChange, Matching, OneSided, mixed_access};
use matching::{Case, access_changes, cases, changes, naming};

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
    fn of(arms: &Arms<'_>, state: &RunState, runs: &[&str], matching: Option<Matching>) -> Self {
        Compared {
            version: COMPARED_VERSION,
            suite: state.start().suite.clone(),
            by: arms.by,
            runs: runs.iter().map(|run| (*run).to_owned()).collect(),
            baseline: arms.baseline.to_owned(),
            margin: arms.margin,
            matching,
            comparisons: compare_arms(arms),
        }
    }

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
    let mut agents = state.trials().iter().map(|trial| &trial.head.agent);
    let refusal: fn(String) -> CompareError = if state.status() == RunStatus::Running {
        CompareError::GoingOn
    } else if state.trials().is_empty() {
        CompareError::Empty
    } else if state.ablation().is_some() {
        CompareError::Ablation
    } else if agents.all(|agent| is_control(agent)) {
        CompareError::OnlyControls
    } else {
        return Ok(());
    };
    Err(refusal(state.run().to_owned()))
}

/// Without a baseline: the suite's for experiments, the first for environments.
pub fn within(
    state: &RunState,
    by: By,
    baseline: Option<&str>,
    margin: f64,
) -> Result<Compared, CompareError> {
    check(state)?;
    let experiments = names(state, |head| &head.experiment);
    let environments = names(state, |head| &head.environment);
    let (arms, places) = match by {
        By::Environment => (environments, experiments),
        By::Experiment | By::Run => (experiments, environments),
    };
    let baseline = choose(state, by, &arms, baseline)?;
    if arms.len() == 1 {
        return Err(CompareError::Alone {
            run: state.run().to_owned(),
            noun: by.as_str(),
            name: baseline.to_owned(),
            by,
            has_environments: places.len() > 1,
        });
    }
    let arms = Arms::within(state, by, baseline, margin);
    Ok(Compared::of(&arms, state, &[state.run()], None))
}

fn names(state: &RunState, name: fn(&TrialHead) -> &str) -> Vec<&str> {
    distinct(state.trials().iter().map(|trial| name(&trial.head)))
}

fn choose<'a>(
    state: &'a RunState,
    by: By,
    arms: &[&'a str],
    asked: Option<&str>,
) -> Result<&'a str, CompareError> {
    if let Some(name) = asked {
        let found = arms.iter().find(|arm| **arm == name).copied();
        return found.ok_or_else(|| CompareError::Unknown {
            run: state.run().to_owned(),
            noun: by.as_str(),
            name: name.to_owned(),
            known: prose::quoted_list(arms, "and"),
            meant: prose::did_you_mean(name, arms.iter().copied()).map(str::to_owned),
        });
    }
    let usual = if by == By::Environment {
        arms[0]
    } else {
        state.baseline()
    };
    match arms {
        [only] => Ok(only),
        arms if arms.contains(&usual) => Ok(usual),
        arms => Err(CompareError::NoBaseline {
            run: state.run().to_owned(),
            name: usual.to_owned(),
            known: prose::quoted_list(arms, "and"),
        }),
    }
}

/// A run as one side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Arm<'a> {
    /// Its name in the answer: two runs of two suites may have the same name.
    pub name: &'a str,
    /// The run.
    pub state: &'a RunState,
    /// The fingerprints of its cases, if it has them.
    pub prints: Option<&'a [CaseFingerprint]>,
}

/// Only what both runs have is compared. Evals that changed are told, and left out only when that is asked for.
pub fn between(
    baseline: Arm<'_>,
    other: Arm<'_>,
    margin: f64,
    only_unchanged: bool,
) -> Result<Compared, CompareError> {
    check(baseline.state)?;
    check(other.state)?;
    let (first, second) = (cases(baseline.state), cases(other.state));
    let mut common: BTreeSet<Case<'_>> = first.intersection(&second).copied().collect();
    let (only_in_baseline, only_in_other) =
        (OneSided::of(&first, &second), OneSided::of(&second, &first));
    let names = || (baseline.name.to_owned(), other.name.to_owned());
    if common.is_empty() {
        let (first, second) = names();
        let sides = [(&first, &only_in_baseline), (&second, &only_in_other)];
        let reasons = sides.map(|(name, only)| format!("  only in {name}: {}", only.words()));
        return Err(CompareError::NothingInCommon {
            first,
            second,
            reasons: reasons.join("\n"),
        });
    }
    let changes = changes(baseline.prints, other.prints, &common);
    if only_unchanged {
        let is_changed = |eval: &str| {
            changes
                .as_ref()
                .is_some_and(|changes| changes.evals.contains_key(eval))
        };
        common.retain(|(eval, ..)| !is_changed(eval));
        if common.is_empty() {
            let (first, second) = names();
            return Err(CompareError::AllChanged { first, second });
        }
    }
    let mut trials = trials(other, &common);
    trials.extend(self::trials(baseline, &common));
    let evals = distinct(trials.iter().map(|trial| &*trial.trial.head.eval));
    let matching = Matching {
        evals: evals.into_iter().map(str::to_owned).collect(),
        only_in_baseline,
        only_in_other,
        changes,
        changed_left_out: only_unchanged,
        access: access_changes(baseline.state, other.state, &common),
    };
    // Where one of them stopped when it had seen enough, the test has to allow for it.
    let adaptive = [other.state, baseline.state].map(|state| state.start().adaptive);
    let arms = Arms {
        margin,
        adaptive: adaptive.iter().flatten().map(|bounds| bounds.max).max(),
        ..Arms::new(By::Run, baseline.name, trials, other.state)
    };
    let runs = [baseline.name, other.name];
    Ok(Compared::of(&arms, other.state, &runs, Some(matching)))
}

/// The trials of a run that are compared: the run is their arm, and their variant the place.
fn trials<'a>(arm: Arm<'a>, common: &BTreeSet<Case<'_>>) -> Vec<ArmTrial<'a>> {
    let name = naming(common);
    let mut trials = Vec::new();
    for trial in arm.state.trials() {
        let head = &trial.head;
        if common.contains(&(&head.eval, &head.environment, &head.experiment)) {
            trials.push(ArmTrial {
                arm: arm.name,
                place: Cow::Owned(name(head)),
                trial,
            });
        }
    }
    trials
}

#[cfg(test)]
mod tests;
