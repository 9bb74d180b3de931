//! One arm against the baseline: an entry of `comparisons` in `results.json` and `terca compare --format json`.

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::evidence::Evidence;
use super::figures::Figures;
use super::outlook::Outlook;
use super::pairs::Pair;
use super::verdict::Verdict;
use crate::stats::fisher::fisher;
use crate::stats::newcombe::newcombe;
use crate::stats::{CannotTell, Interval};

/// One arm against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The arm that is looked at: an experiment, an environment or a run.
    pub arm: String,
    /// The arm that it is compared with.
    pub baseline: String,
    /// The place where they are compared, `null` for all places together: an environment, an experiment or a variant.
    pub place: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict as a person would say it.
    pub sentence: String,
    /// Things to know before believing it.
    pub warnings: Vec<String>,
    /// The reason why it is inconclusive, when more than noise is the matter.
    pub cannot_tell: Option<CannotTell>,
    /// The number of evals that were judged in both arms.
    pub evals: usize,
    /// The evals that were not.
    pub left_out: Vec<String>,
    /// The planned repetitions.
    pub repetitions: Repetitions,
    /// The number of comparisons that the p-values are adjusted for.
    pub comparisons: usize,
    /// In an adaptive run: what the verdict goes by, and the p-value of the pass rate is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential: Option<Evidence>,
    /// Both arms: rates and scores over the evals judged in both, counts of all trials.
    pub figures: ArmFigures,
    /// Fisher's test of whether errors are as frequent in both.
    pub errors_p: f64,
    /// The effect on the pass rate: a difference.
    pub pass_rate: Effect,
    /// The effect on the mean score: a difference.
    pub mean_score: Effect,
    /// The effect on the tokens: a ratio.
    pub tokens: Effect,
    /// The effect on the cost: a ratio.
    pub cost_usd: Effect,
    /// The effect on the agent's time: a ratio.
    pub seconds: Effect,
    /// Each eval by itself, in one environment.
    pub per_eval: Vec<EvalEffect>,
    /// The way to an answer, when it is inconclusive.
    pub outlook: Option<Outlook>,
}

/// The figures of the two arms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmFigures {
    /// The arm that is looked at.
    pub arm: Figures,
    /// The arm that it is compared with.
    pub baseline: Figures,
}

/// The planned trials of an eval in an arm, from the fewest to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetitions {
    /// The fewest.
    pub min: usize,
    /// The most.
    pub max: usize,
}

/// The effect of an arm on one eval: the difference in pass rate, Newcombe's interval, Fisher's test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalEffect {
    /// The eval's name.
    pub eval: String,
    /// The difference in pass rate.
    pub difference: f64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The p-value.
    pub p: f64,
}

impl Repetitions {
    pub(super) fn of(pairs: &[Pair<'_>]) -> Self {
        let planned = || {
            pairs
                .iter()
                .flat_map(|pair| &pair.cells)
                .flat_map(|(one, other)| [one, other])
        };
        let counts = || planned().map(|cell| cell.trials.len());
        Repetitions {
            min: counts().min().unwrap_or(0),
            max: counts().max().unwrap_or(0),
        }
    }
}

impl EvalEffect {
    pub(super) fn of(pair: &Pair<'_>) -> Self {
        let (arm, baseline) = pair.cells[0];
        let (one, other) = (arm.tally(), baseline.tally());
        let (rate, other_rate) = pair.rates();
        let failed = |(passed, judged): (usize, usize)| (passed, judged - passed);
        EvalEffect {
            eval: pair.eval.to_owned(),
            difference: rate - other_rate,
            interval: newcombe(one, other).ok(),
            p: fisher(failed(one), failed(other)),
        }
    }
}
