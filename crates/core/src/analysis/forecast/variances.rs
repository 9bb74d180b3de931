//! The variance of trials and evals: as it was before, or as is assumed.

use serde::{Deserialize, Serialize};

use crate::analysis::history::Past;
use crate::analysis::summary::{ENOUGH_EVALS, LEAST_BETWEEN};
use crate::stats::power::{Spread, luck_of_rate};
use crate::stats::sample::mean;

/// The variance of one trial that passes half of the time: none is larger.
const WORST_LUCK: f64 = 0.25;

/// The variances of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variances {
    /// ω²: by which the evals' true effects differ.
    pub between: f64,
    /// σ² of one trial, in each arm.
    pub experiment: f64,
    /// The variance of a trial of the baseline.
    pub baseline: f64,
    /// The number of evals and judged trials they are from.
    pub evals: usize,
    /// The number of trials.
    pub trials: usize,
    /// The variances that were not measured.
    pub assumed: Vec<Assumption>,
}

/// A value in the place of one that nobody has measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Assumption {
    /// Of both arms.
    Luck,
    /// One arm is taken to be like the other.
    LuckOfOneArm,
    /// The variance between evals.
    Between,
}

impl Assumption {
    /// Returns the assumption in words.
    pub fn words(self) -> &'static str {
        match self {
            Assumption::Luck => "every trial passes half of the time (the hardest case)",
            Assumption::LuckOfOneArm => {
                "the variant that has not run yet varies as much as the other"
            }
            Assumption::Between => {
                "for other tasks, true effects are within 20 points of their mean"
            }
        }
    }
}

impl Variances {
    /// From what is known of each eval, in the experiment and in the baseline.
    pub(super) fn of(pairs: &[(Option<&Past>, Option<&Past>)]) -> Self {
        let of_arm = |arm: Vec<Option<&Past>>| {
            mean(&arm.into_iter().flatten().map(luck).collect::<Vec<f64>>())
        };
        let (first, second): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let mut assumed = Vec::new();
        let (experiment, baseline) = match (of_arm(first), of_arm(second)) {
            (Some(one), Some(other)) => (one, other),
            (Some(known), None) | (None, Some(known)) => {
                assumed.push(Assumption::LuckOfOneArm);
                (known, known)
            }
            (None, None) => {
                assumed.push(Assumption::Luck);
                (WORST_LUCK, WORST_LUCK)
            }
        };
        // A few evals that agree are no proof that all do.
        let (evals, measured) = between(pairs);
        let between = if evals < ENOUGH_EVALS && measured < LEAST_BETWEEN {
            assumed.push(Assumption::Between);
            LEAST_BETWEEN
        } else {
            measured
        };
        let known = |pair: &(Option<&Past>, Option<&Past>)| {
            [pair.0, pair.1]
                .into_iter()
                .flatten()
                .map(|past| past.judged)
                .sum::<usize>()
        };
        Variances {
            between,
            experiment,
            baseline,
            evals: pairs.iter().filter(|pair| known(pair) > 0).count(),
            trials: pairs.iter().map(known).sum(),
            assumed,
        }
    }
}

/// The variance of one trial. Its rate is taken as (passed + ½)/(judged + 1): a few trials that ended alike are no
/// proof that all will.
fn luck(past: &Past) -> f64 {
    let rate = (past.passed as f64 + 0.5) / (past.judged as f64 + 1.0);
    rate * (1.0 - rate)
}

/// Returns the variance of the differences without the luck of the trials, and the number of evals it is from.
fn between(pairs: &[(Option<&Past>, Option<&Past>)]) -> (usize, f64) {
    let of_eval = |(one, other): &(Option<&Past>, Option<&Past>)| {
        let (one, other) = ((*one)?, (*other)?);
        let rate = |past: &Past| past.passed as f64 / past.judged as f64;
        let luck = |past: &Past| luck_of_rate(past.passed, past.judged).ok();
        Some((rate(one) - rate(other), luck(one)? + luck(other)?))
    };
    let (differences, lucks): (Vec<f64>, Vec<f64>) = pairs.iter().filter_map(of_eval).unzip();
    let of_trials = mean(&lucks).unwrap_or(0.0);
    let spread = Spread::of(&differences, of_trials);
    (
        differences.len(),
        spread.map_or(0.0, |spread| spread.between),
    )
}
