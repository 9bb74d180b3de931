//! The way to an answer: more repetitions of these evals, or more evals like them, and what they would cost.
//!
//! Repetitions answer the question about these evals, and only evals the one about other tasks.

use serde::{Deserialize, Serialize};

use super::arms::Arms;
use super::figures::Figures;
use super::pairs::Pair;
use super::strata;
use super::verdict::Beyond;
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

/// The facts that the outlook is reckoned from.
#[derive(Debug)]
pub(super) struct Basis<'b> {
    pub(super) pairs: &'b [Pair<'b>],
    /// The difference that was found.
    pub(super) found: f64,
    pub(super) beyond: Option<Beyond>,
    pub(super) measure: Measure,
    pub(super) figures: [&'b Figures; 2],
    pub(super) repetitions: usize,
    pub(super) places: usize,
    /// The number of comparisons that the p-value is adjusted for.
    pub(super) comparisons: usize,
}

impl Outlook {
    /// Returns the way to show a difference on these evals.
    pub(super) fn on_these(basis: &Basis<'_>, arms: &Arms<'_>) -> Self {
        let strata = strata::counts(basis.pairs).len();
        let mut repetitions = Vec::new();
        if let Ok(luck) = luck(basis) {
            for difference in DIFFERENCES {
                let needed = power::repetitions_needed(strata, luck, difference, basis.comparisons);
                if needed > basis.repetitions && needed <= MOST_REPETITIONS {
                    let evals = basis.pairs.len();
                    repetitions.push(Proposal::of(difference, evals, needed, basis, arms));
                }
            }
        }
        Outlook {
            repetitions,
            evals: None,
        }
    }

    /// Returns the way to show that a difference holds for other tasks.
    pub(super) fn beyond(basis: &Basis<'_>, arms: &Arms<'_>) -> Self {
        let wanted = matches!(basis.beyond, Some(Beyond::Unclear | Beyond::TooFewEvals));
        let needed = evals_needed(basis).filter(|evals| wanted && *evals <= MOST_EVALS);
        let propose =
            |evals| Proposal::of(basis.found.abs(), evals, basis.repetitions, basis, arms);
        Outlook {
            repetitions: Vec::new(),
            evals: needed.map(propose),
        }
    }
}

/// The luck of one trial in each arm, as the mean over the strata.
fn luck(basis: &Basis<'_>) -> Result<f64, CannotTell> {
    match basis.measure {
        Measure::PassRate => power::luck(&strata::counts(basis.pairs)),
        Measure::Score => {
            let of_one = |values: &[f64]| sample::variance(values).ok_or(CannotTell::OneRepetition);
            let lucks: Result<Vec<f64>, CannotTell> = strata::scores(basis.pairs)
                .strata
                .iter()
                .map(|values| Ok(of_one(&values.arm)? + of_one(&values.baseline)?))
                .collect();
            sample::mean(&lucks?).ok_or(CannotTell::NoEvals)
        }
    }
}

/// Returns how many evals would show the difference that was found, for tasks like these.
fn evals_needed(basis: &Basis<'_>) -> Option<usize> {
    let differences: Vec<f64> = match basis.measure {
        Measure::PassRate => basis.pairs.iter().map(Pair::difference).collect(),
        Measure::Score => strata::scores(basis.pairs).differences,
    };
    let of_trials = luck(basis).ok()? / basis.repetitions.max(1) as f64;
    let (between, _) = power::between(&differences, of_trials);
    let needed = power::evals_needed(between + of_trials, basis.found).max(FEWEST_EVALS);
    (needed > differences.len()).then_some(needed)
}

impl Proposal {
    fn of(
        difference: f64,
        evals: usize,
        repetitions: usize,
        basis: &Basis<'_>,
        arms: &Arms<'_>,
    ) -> Self {
        let of_arm = evals
            .saturating_mul(repetitions)
            .saturating_mul(basis.places);
        let of_both = |read: fn(&Figures) -> Option<f64>| {
            let [one, other] = basis.figures;
            Some((read(one)? + read(other)?) * of_arm as f64)
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
    }
}
