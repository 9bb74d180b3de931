//! The two arms of a comparison: what was spent on each, and what came of it.

use serde::{Deserialize, Serialize};

use super::figures::COST;
use crate::run::outcome::{Status, TrialReport};
use crate::stats::sample::mean;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arms {
    pub experiment: Side,
    pub baseline: Side,
}

/// One arm of a comparison.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    pub trials: usize,
    pub judged: usize,
    pub passed: usize,
    pub errors: usize,
    /// Interrupted, or not run at all.
    pub unfinished: usize,
    pub pass_rate: Option<f64>,
    pub mean_score: Option<f64>,
    pub mean_cost_usd: Option<f64>,
    /// From set-up to the end of the tests.
    pub mean_trial_seconds: Option<f64>,
}

impl Side {
    pub(super) fn of(trials: &[&TrialReport]) -> Self {
        let judged: Vec<&TrialReport> = trials
            .iter()
            .copied()
            .filter(|trial| trial.status.is_judged())
            .collect();
        let count = |status| trials.iter().filter(|trial| trial.status == status).count();
        let costs: Vec<f64> = judged
            .iter()
            .filter_map(|trial| COST(&trial.stats))
            .collect();
        let seconds: Vec<f64> = judged.iter().map(|trial| trial.duration_seconds).collect();
        Side {
            trials: trials.len(),
            judged: judged.len(),
            passed: count(Status::Passed),
            errors: count(Status::Error),
            unfinished: count(Status::Interrupted) + count(Status::Pending),
            mean_cost_usd: mean(&costs),
            mean_trial_seconds: mean(&seconds),
            ..Side::default()
        }
    }

    /// Trials that ended in an error, and that did not.
    pub(super) fn errors_or_not(&self) -> (usize, usize) {
        (self.errors, self.judged)
    }
}
