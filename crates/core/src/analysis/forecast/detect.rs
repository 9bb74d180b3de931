//! The cheapest plans that see a difference: with the evals that are there, and with as many as one likes.

use serde::{Deserialize, Serialize};

use super::{Arm, Expense, Precision, Question};
use crate::analysis::summary::{Proposal, fewest_evals};
use crate::stats::power::{Spread, detectable_in_plan};

/// More is not worth proposing.
const MOST_REPETITIONS: usize = 10_000;
const MOST_EVALS: usize = 1_000_000;
/// With evals at will, few repetitions are always cheapest.
const FEW_REPETITIONS: usize = 5;

/// The answer to `--detect`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Detect {
    /// The difference in pass rate.
    pub difference: f64,
    /// The plan as it is sees it.
    pub is_seen: bool,
    /// With no more evals than the plan has; `null` when they differ too much among themselves, or are too few.
    pub with_these_evals: Option<Proposal>,
    /// With as many evals as it takes, when that is cheaper.
    pub with_more_evals: Option<Proposal>,
}

impl Detect {
    /// For the comparison that sees least: the others see it too.
    pub(super) fn of(
        difference: f64,
        precision: &[Precision],
        arms: &[Arm],
        question: &Question<'_>,
    ) -> Option<Self> {
        let seen = |one: &&Precision| one.detectable.unwrap_or(f64::INFINITY);
        let hardest = precision
            .iter()
            .max_by(|one, other| seen(one).total_cmp(&seen(other)))?;
        let fewest = fewest_evals(hardest.comparisons);
        let these = (fewest..=hardest.evals)
            .filter_map(|evals| Some((evals, repetitions(hardest, evals, difference)?)))
            .min_by_key(|(evals, repetitions)| (evals * repetitions, *repetitions));
        let more = (1..=FEW_REPETITIONS)
            .filter_map(|repetitions| {
                Some((
                    evals(hardest, repetitions, difference, fewest)?,
                    repetitions,
                ))
            })
            .min_by_key(|(evals, repetitions)| evals * repetitions);
        let size = |plan: &(usize, usize)| plan.0 * plan.1;
        let more = more.filter(|plan| {
            plan.0 > hardest.evals && these.as_ref().is_none_or(|one| size(plan) < size(one))
        });
        let propose = |(evals, repetitions)| proposal(evals, repetitions, arms, question);
        Some(Detect {
            difference,
            is_seen: hardest
                .detectable
                .is_some_and(|detectable| detectable <= difference),
            with_these_evals: these.map(propose),
            with_more_evals: more.map(propose),
        })
    }
}

fn is_seen(precision: &Precision, evals: usize, repetitions: usize, difference: f64) -> bool {
    let variances = &precision.variances;
    let luck = (variances.experiment + variances.baseline) / repetitions as f64;
    let spread = Spread {
        between: variances.between,
        luck,
    };
    detectable_in_plan(spread, evals, precision.comparisons)
        .is_ok_and(|detectable| detectable <= difference)
}

/// The fewest with which so many evals see it.
fn repetitions(precision: &Precision, evals: usize, difference: f64) -> Option<usize> {
    first(1, MOST_REPETITIONS, |repetitions| {
        is_seen(precision, evals, repetitions, difference)
    })
}

/// The fewest with which so many repetitions see it.
fn evals(
    precision: &Precision,
    repetitions: usize,
    difference: f64,
    fewest: usize,
) -> Option<usize> {
    first(fewest, MOST_EVALS, |evals| {
        is_seen(precision, evals, repetitions, difference)
    })
}

/// The smallest number for which something holds that holds for all larger ones.
fn first(mut low: usize, mut high: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    if !holds(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// All arms of the plan, with other numbers.
fn proposal(evals: usize, repetitions: usize, arms: &[Arm], question: &Question<'_>) -> Proposal {
    let of_arm = evals * repetitions;
    let scaled = |arm: &Arm| Arm {
        trials: of_arm,
        expense: arm.expense.scaled(of_arm as f64 / arm.trials.max(1) as f64),
        ..arm.clone()
    };
    let arms: Vec<Arm> = arms.iter().map(scaled).collect();
    let Expense { cost_usd, seconds } = Expense::total(&arms, question.concurrency);
    Proposal {
        evals,
        repetitions,
        trials: of_arm * arms.len(),
        cost_usd,
        seconds,
    }
}
