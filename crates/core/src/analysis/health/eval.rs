//! One eval: how it ends, how steadily, and for how much.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::correlation::Correlation;
use super::gather::{Gathered, Seen};
use crate::run::outcome::{Status, TrialReport};
use crate::run::state::Spent;
use crate::stats::sample::mean;
use crate::stats::wilson::wilson;
use crate::stats::{CannotTell, Interval};

/// Fewer trials that end alike say nothing.
const FEWEST_TRIALS: usize = 3;
/// So many that ended alike, and an eval is taken to be settled.
const SETTLED_TRIALS: usize = 10;
/// An eval that passes this often tells most: it can become better and worse.
const TELLS_MOST: RangeInclusive<f64> = 0.15..=0.85;

/// The health of one eval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvalHealth {
    /// The eval's name.
    pub eval: String,
    /// Remarks about it.
    pub marks: Vec<Mark>,
    /// It could be left out of every run without losing information.
    pub droppable: bool,
    /// The number of trials.
    pub trials: usize,
    /// The trials that have a score.
    pub judged: usize,
    /// The trials that have the full score.
    pub passed: usize,
    /// In no figure here but the cost and the time.
    pub errors: usize,
    /// The share of the judged trials that passed.
    pub pass_rate: Option<f64>,
    /// Its 95 % interval.
    pub pass_rate_interval: Option<Interval>,
    /// The share of pairs of trials of one variant that end alike; `null` where no variant has two.
    pub agreement: Option<f64>,
    /// The trials whose work the same tests graded more than once.
    pub graded_again: usize,
    /// Those of them whose grade changed.
    pub grade_changed: usize,
    /// The correlation with the other evals.
    pub with_rest: Option<Correlation>,
    /// The reason why there is none.
    pub cannot_tell: Option<CannotTell>,
    /// The mean cost of a judged trial, in US dollars.
    pub mean_cost_usd: Option<f64>,
    /// The mean time of a judged trial.
    pub mean_seconds: Option<f64>,
    /// Of all attempts of all its trials, errors too, with judges.
    pub cost_usd: Option<f64>,
    /// The time of all its trials.
    pub seconds: f64,
    /// Of what all evals cost and took.
    pub cost_share: Option<f64>,
    /// Its share of the time of all evals.
    pub seconds_share: Option<f64>,
    /// Runs that are not counted, since it was another eval then.
    pub changed_runs: usize,
}

/// A remark about an eval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mark {
    /// All trials passed.
    AlwaysPasses,
    /// No trial passed.
    NeverPasses,
    /// It passes neither nearly always nor hardly ever.
    TellsMost,
    /// The grade of the same work changed when the same tests graded it again.
    Flaky,
    /// It passes where the others fail.
    Contradicts,
    /// Too few trials to say anything.
    TooFewTrials,
}

impl Mark {
    /// Returns the mark in words.
    pub fn words(self) -> &'static str {
        match self {
            Mark::AlwaysPasses => "always passes",
            Mark::NeverPasses => "never passes",
            Mark::TellsMost => "informative",
            Mark::Flaky => "flaky",
            Mark::Contradicts => "contradicts",
            Mark::TooFewTrials => "too few trials",
        }
    }
}

impl EvalHealth {
    pub(super) fn of(seen: &Seen<'_>, gathered: &Gathered<'_>) -> Self {
        let mut judged: Vec<&TrialReport> = Vec::new();
        let mut passed = 0;
        let mut errors = 0;
        let mut spent = Spent::default();
        let mut seconds = 0.0;
        for trial in &seen.trials {
            let report = &trial.report;
            passed += usize::from(report.status == Status::Passed);
            errors += usize::from(report.status == Status::Error);
            spent.merge(&trial.spent);
            seconds += report.duration_seconds;
            if report.status.is_judged() {
                judged.push(report);
            }
        }
        let costs: Vec<f64> = judged
            .iter()
            .filter_map(|report| report.stats.usage.cost_usd)
            .collect();
        let times: Vec<f64> = judged
            .iter()
            .map(|report| report.duration_seconds)
            .collect();
        let agreement = agreement(seen);
        let with_rest = Correlation::of(seen.position, gathered);
        let is_settled = passed == 0 || passed == judged.len();
        EvalHealth {
            eval: seen.eval.to_owned(),
            marks: marks(passed, judged.len(), seen.grade_changed > 0),
            droppable: is_settled && judged.len() >= SETTLED_TRIALS && seen.grade_changed == 0,
            trials: seen.trials.len(),
            judged: judged.len(),
            passed,
            errors,
            pass_rate: (!judged.is_empty()).then(|| passed as f64 / judged.len() as f64),
            pass_rate_interval: wilson(passed, judged.len()).ok(),
            agreement,
            graded_again: seen.graded_again,
            grade_changed: seen.grade_changed,
            with_rest: with_rest.ok(),
            cannot_tell: with_rest.err(),
            mean_cost_usd: mean(&costs),
            mean_seconds: mean(&times),
            cost_usd: spent.cost_usd,
            seconds,
            cost_share: None,
            seconds_share: None,
            changed_runs: seen.changed_runs,
        }
    }
}

fn marks(passed: usize, judged: usize, is_flaky: bool) -> Vec<Mark> {
    let rate = passed as f64 / judged as f64;
    let of_rate = if judged < FEWEST_TRIALS {
        Some(Mark::TooFewTrials)
    } else if passed == judged {
        Some(Mark::AlwaysPasses)
    } else if passed == 0 {
        Some(Mark::NeverPasses)
    } else {
        TELLS_MOST.contains(&rate).then_some(Mark::TellsMost)
    };
    of_rate
        .into_iter()
        .chain(is_flaky.then_some(Mark::Flaky))
        .collect()
}

/// The share of pairs that end alike, in the mean of the variants that have a pair.
fn agreement(seen: &Seen<'_>) -> Option<f64> {
    let of_variant = |(passed, judged): &(usize, usize)| {
        let (passed, judged) = (*passed as f64, *judged as f64);
        (judged >= 2.0).then(|| 1.0 - 2.0 * passed * (judged - passed) / (judged * (judged - 1.0)))
    };
    mean(
        &seen
            .variants
            .values()
            .filter_map(of_variant)
            .collect::<Vec<f64>>(),
    )
}
