//! The way to an answer: more repetitions of these evals, or more evals like them, and what they would cost.
//!
//! Repetitions answer the question about these evals, and only evals the one about other tasks.

use serde::{Deserialize, Serialize};

use super::comparison::{ArmFigures, Beyond, Comparison, Verdict};
use super::figures::Figures;
use super::pairs::{self, Arms, Pair};
use crate::config::verdict::Measure;
use crate::stats::beyond::FEWEST_EVALS;
use crate::stats::{CannotTell, power, sample};

/// The differences that repetitions are reckoned for, the easiest to see first.
const DIFFERENCES: [f64; 3] = [0.3, 0.2, 0.1];
/// More repetitions than this are no advice.
const MOST_REPETITIONS: usize = 1000;
/// Nobody writes more evals than this to answer one question.
pub(crate) const MOST_EVALS: usize = 50;

/// The way to an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    /// More repetitions of these evals, for each difference that the trials at hand do not show.
    #[serde(default)]
    pub repetitions: Vec<Proposal>,
    /// More evals, to show that the difference found holds beyond these. None where nobody would write so many.
    pub evals: Option<Proposal>,
}

/// A run of the two arms that would do. What it costs is reckoned from the trials at hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// The difference that it shows in four of five cases.
    pub difference: f64,
    /// The number of evals.
    pub evals: usize,
    /// The repetitions of each eval in each arm.
    pub repetitions: usize,
    /// In both arms together.
    pub trials: usize,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// With as many trials at a time as in this run.
    pub seconds: Option<f64>,
}

impl Outlook {
    /// What would tell more: more repetitions of these evals when they show nothing, more evals when these do not speak for others.
    pub(super) fn of(
        comparison: &Comparison,
        pairs: &[Pair<'_>],
        places: usize,
        arms: &Arms<'_>,
    ) -> Option<Self> {
        let planned = comparison.repetitions.max;
        let luck = luck(comparison.measure, pairs);
        let propose = |difference, evals: usize, repetitions: usize| {
            let of_arm = evals.saturating_mul(repetitions).saturating_mul(places);
            let of_both = |read: fn(&Figures) -> Option<f64>| {
                let ArmFigures { arm, baseline } = &comparison.figures;
                Some((read(arm)? + read(baseline)?) * of_arm as f64)
            };
            Proposal {
                difference,
                evals,
                repetitions,
                trials: of_arm.saturating_mul(2),
                cost_usd: of_both(|figures| figures.mean_cost_usd),
                seconds: of_both(|figures| figures.mean_trial_seconds)
                    .map(|seconds| seconds / arms.concurrency.max(1) as f64),
            }
        };
        let mut outlook = Outlook {
            repetitions: Vec::new(),
            evals: None,
        };
        match comparison.verdict {
            _ if pairs.is_empty() => return None,
            Verdict::Equivalent => return None,
            Verdict::Inconclusive => {
                let strata = pairs::counts(pairs).len();
                for difference in DIFFERENCES.into_iter().filter(|_| luck.is_ok()) {
                    let luck = luck.unwrap_or_default();
                    let comparisons = comparison.comparisons;
                    let needed = power::repetitions_needed(strata, luck, difference, comparisons);
                    if needed > planned && needed <= MOST_REPETITIONS {
                        let proposal = propose(difference, pairs.len(), needed);
                        outlook.repetitions.push(proposal);
                    }
                }
            }
            Verdict::Better | Verdict::Worse => {
                let found = comparison.decisive().value.unwrap_or(0.0);
                let wanted = comparison.beyond != Some(Beyond::Holds);
                let needed = evals_needed(comparison, pairs, luck.ok(), found);
                let needed = needed.filter(|evals| wanted && *evals <= MOST_EVALS);
                outlook.evals = needed.map(|evals| propose(found.abs(), evals, planned));
            }
        }
        Some(outlook)
    }
}

/// The variance of the difference that luck gives to one repetition.
fn luck(measure: Measure, pairs: &[Pair<'_>]) -> Result<f64, CannotTell> {
    match measure {
        Measure::PassRate => power::luck(&pairs::counts(pairs)),
        Measure::Score => {
            let of_one = |values: &[f64]| sample::variance(values).ok_or(CannotTell::OneRepetition);
            let lucks: Result<Vec<f64>, CannotTell> = pairs::scores(pairs)
                .strata
                .iter()
                .map(|values| Ok(of_one(&values.arm)? + of_one(&values.baseline)?))
                .collect();
            sample::mean(&lucks?).ok_or(CannotTell::NoEvals)
        }
    }
}

fn evals_needed(
    comparison: &Comparison,
    pairs: &[Pair<'_>],
    luck: Option<f64>,
    found: f64,
) -> Option<usize> {
    let differences: Vec<f64> = match comparison.measure {
        Measure::PassRate => pairs.iter().map(Pair::difference).collect(),
        Measure::Score => pairs::scores(pairs).differences,
    };
    let of_trials = luck? / comparison.repetitions.max.max(1) as f64;
    let (between, _) = power::between(&differences, of_trials);
    let needed = power::evals_needed(between + of_trials, found).max(FEWEST_EVALS);
    (needed > differences.len()).then_some(needed)
}
