//! The way to an answer: more evals or more repetitions, and what they would cost.

use serde::{Deserialize, Serialize};

use super::arms::Arms;
use super::effect::Effect;
use super::figures::Figures;
use super::pairs::Pair;
use crate::stats::power::{self, Spread};
use crate::stats::sample::mean;
use crate::stats::{ALPHA, CannotTell, sign_flip};

/// The way to an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outlook {
    /// The difference that must be seen to settle it.
    pub difference: f64,
    /// The smallest difference that this run sees in four of five cases.
    pub detectable: Option<f64>,
    /// More evals, with the same repetitions.
    pub with_evals: Option<Proposal>,
    /// More repetitions of the same evals.
    pub with_repetitions: Option<Proposal>,
    /// The reason why more repetitions are not proposed.
    pub cannot_tell: Option<CannotTell>,
}

/// A run of the two arms that would do. What it costs is reckoned from the trials at hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
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
    pub(super) effect: &'b Effect,
    pub(super) figures: [&'b Figures; 2],
    pub(super) repetitions: usize,
    pub(super) places: usize,
    /// The number of comparisons that the p-value is adjusted for.
    pub(super) comparisons: usize,
}

impl Outlook {
    pub(super) fn of(basis: &Basis<'_>, arms: &Arms<'_>) -> Self {
        let evals = basis.pairs.len();
        let fewest = fewest_evals(basis.comparisons);
        let differences: Vec<f64> = basis
            .pairs
            .iter()
            .map(|pair| {
                let (rate, baseline) = pair.rates();
                rate - baseline
            })
            .collect();
        let luck = mean(
            &basis
                .pairs
                .iter()
                .filter_map(|pair| pair.luck().ok())
                .collect::<Vec<f64>>(),
        );
        let spread = Spread::of(&differences, luck.unwrap_or(0.0));
        let detectable = spread
            .and_then(|spread| power::detectable(spread, evals))
            .ok();
        let difference = to_be_seen(detectable, basis.effect.value.unwrap_or(0.0), arms.margin);
        let propose = |evals, repetitions| Proposal::of(evals, repetitions, basis, arms);
        let with_evals = spread.map(|spread| power::evals_needed(spread, difference).max(fewest));
        let times = match luck {
            _ if evals < fewest => Err(CannotTell::TooFewEvals),
            None => Err(CannotTell::OneRepetition),
            Some(_) => {
                spread.and_then(|spread| power::repetitions_needed(spread, evals, difference))
            }
        };
        let with_repetitions =
            times.map(|times| (basis.repetitions as f64 * times).ceil() as usize);
        Outlook {
            difference,
            detectable,
            with_evals: with_evals
                .ok()
                .filter(|needed| *needed > evals)
                .map(|needed| propose(needed, basis.repetitions)),
            with_repetitions: with_repetitions
                .ok()
                .filter(|needed| *needed > basis.repetitions)
                .map(|needed| propose(evals, needed)),
            cannot_tell: with_repetitions.err(),
        }
    }

    /// The proposal that needs fewer trials; if none does, more repetitions, since they need not be written.
    pub fn cheaper(&self) -> Option<&Proposal> {
        let trials = |proposal: &&Proposal| proposal.trials;
        [&self.with_repetitions, &self.with_evals]
            .into_iter()
            .flatten()
            .min_by_key(trials)
    }
}

/// A difference of the margin. When this run sees that already, the true one is near 0 or near the margin, and
/// it is enough to tell it from either of them.
fn to_be_seen(detectable: Option<f64>, found: f64, margin: f64) -> f64 {
    let found = found.abs();
    let is_seen = detectable.is_some_and(|detectable| detectable <= margin);
    if is_seen && found < margin {
        found.max(margin - found)
    } else {
        margin
    }
}

/// Fewer evals cannot give a p-value below the limit, even if all of them change to the same side.
pub(crate) fn fewest_evals(comparisons: usize) -> usize {
    let comparisons = comparisons.max(1) as f64;
    (2..)
        .find(|evals| sign_flip::smallest_p(*evals) * comparisons < ALPHA)
        .unwrap_or(usize::MAX)
}

impl Proposal {
    fn of(evals: usize, repetitions: usize, basis: &Basis<'_>, arms: &Arms<'_>) -> Self {
        let of_arm = evals
            .saturating_mul(repetitions)
            .saturating_mul(basis.places);
        let of_both = |read: fn(&Figures) -> Option<f64>| {
            let [one, other] = basis.figures;
            Some((read(one)? + read(other)?) * of_arm as f64)
        };
        Proposal {
            evals,
            repetitions,
            trials: of_arm.saturating_mul(2),
            cost_usd: of_both(|figures| figures.mean_cost_usd),
            seconds: of_both(|figures| figures.mean_trial_seconds)
                .map(|seconds| seconds / arms.concurrency.max(1) as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_evals_for_one_comparison() {
        assert_eq!([1, 2, 3, 10].map(fewest_evals), [6, 7, 7, 9]);
    }

    #[test]
    fn what_is_near_the_margin_needs_a_closer_look() {
        for (detectable, found, difference) in [
            (Some(0.2), 0.01, 0.05),
            (None, 0.01, 0.05),
            (Some(0.04), 0.0, 0.05),
            (Some(0.04), -0.05, 0.05),
            (Some(0.04), 0.01, 0.04),
            (Some(0.04), -0.03, 0.03),
        ] {
            assert!(
                (to_be_seen(detectable, found, 0.05) - difference).abs() < 1e-12,
                "{detectable:?} {found}"
            );
        }
    }
}
