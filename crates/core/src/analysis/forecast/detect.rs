//! The plans that see a difference: more repetitions of these evals, and more evals to learn about other tasks.

use serde::{Deserialize, Serialize};

use super::{Arm, Expense, Precision, Question};
use crate::analysis::summary::{MOST_EVALS, Proposal};
use crate::stats::beyond::FEWEST_EVALS;
use crate::stats::power;

/// More is not worth proposing.
const MOST_REPETITIONS: usize = 10_000;

/// The answer to `--detect`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Detect {
    /// The difference in pass rate.
    pub difference: f64,
    /// The plan as it is sees it on its evals.
    pub is_seen: bool,
    /// Repetitions of these evals that see it on these evals; `null` when nobody would run so many.
    pub with_these_evals: Option<Proposal>,
    /// Evals that see it for other tasks like these, with the repetitions of the plan; `null` when nobody would write so many.
    pub beyond: Option<Proposal>,
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
        let propose = |evals, repetitions| {
            let of_arm = evals * repetitions;
            let scaled = |arm: &Arm| Arm {
                trials: of_arm,
                expense: arm.expense.scaled(of_arm as f64 / arm.trials.max(1) as f64),
                ..arm.clone()
            };
            let arms: Vec<Arm> = arms.iter().map(scaled).collect();
            let Expense { cost_usd, seconds } = Expense::total(&arms, question.concurrency);
            Proposal {
                difference,
                evals,
                repetitions,
                trials: of_arm * arms.len(),
                cost_usd,
                seconds,
            }
        };
        let luck = hardest.variances.experiment + hardest.variances.baseline;
        let number = hardest.comparisons;
        let repetitions = power::repetitions_needed(hardest.evals, luck, difference, number);
        let variance = hardest.variances.between + luck / hardest.repetitions;
        let is_seen_by =
            |evals: &usize| power::detectable_beyond(variance, *evals, number) <= difference;
        let planned = hardest.repetitions.round().max(1.0) as usize;
        Some(Detect {
            difference,
            is_seen: seen(&hardest) <= difference,
            with_these_evals: (hardest.evals > 0 && repetitions <= MOST_REPETITIONS)
                .then(|| propose(hardest.evals, repetitions)),
            beyond: (FEWEST_EVALS..=MOST_EVALS)
                .find(is_seen_by)
                .map(|evals| propose(evals, planned)),
        })
    }
}
