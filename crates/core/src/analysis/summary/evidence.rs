//! The evidence of an adaptive run: pairs of trials, one of each arm, that differ.
//!
//! A pair is the same repetition of the same eval in the same environment, judged in both arms. When an experiment
//! changes nothing, a pair that differs does so to either side with even odds, for every eval and however often it
//! has been repeated; so the e-value of `stats::sequential` may be looked at after every round, and 1/E is a p-value
//! that stays one.

use serde::{Deserialize, Serialize};

use super::arms::Arms;
use super::grid::{Cell, Grid};
use super::pairs::{Pair, Scope};
use crate::run::outcome::Status;
use crate::run::state::RunState;
use crate::stats::ALPHA;
use crate::stats::holm::holm;
use crate::stats::sequential::ln_e_value;

/// The evidence for and against a difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Pairs that were judged in both arms.
    pub pairs: usize,
    /// Those that passed with the experiment alone.
    pub better: usize,
    /// Those that passed with the baseline alone.
    pub worse: usize,
    /// The e-value: 1 over it is a p-value.
    pub e_value: f64,
}

impl Evidence {
    pub(super) fn of(pairs: &[Pair<'_>]) -> Self {
        let (mut number, mut better, mut worse) = (0, 0, 0);
        for (with, without) in pairs
            .iter()
            .flat_map(|pair| &pair.cells)
            .flat_map(|cells| both(*cells))
        {
            number += 1;
            better += usize::from(with && !without);
            worse += usize::from(without && !with);
        }
        // Beyond this it is certain, and not a number that JSON knows.
        const LARGEST: f64 = 690.0;
        Evidence {
            pairs: number,
            better,
            worse,
            e_value: ln_e_value(better, worse).min(LARGEST).exp(),
        }
    }

    /// Valid whenever it is looked at.
    pub fn p(&self) -> f64 {
        (1.0 / self.e_value).min(1.0)
    }
}

/// Returns whether the experiment and the baseline passed, repetition by repetition.
fn both<'c>(
    (with, without): (&'c Cell<'c>, &'c Cell<'c>),
) -> impl Iterator<Item = (bool, bool)> + 'c {
    with.outcomes().filter_map(move |(repetition, status)| {
        let (_, other) = without
            .outcomes()
            .find(|(number, _)| *number == repetition)?;
        Some((status == Status::Passed, other == Status::Passed))
    })
}

/// The state of a comparison in one environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// It is decided.
    pub decided: bool,
}

/// Every experiment against the baseline, in each environment.
///
/// Decided by Holm's method, which holds at every look at once: the first comparison without an effect that is called
/// decided needs an e-value of 20 × the number of such comparisons, and one of them reaches that in 1 run of 20.
pub fn standings(state: &RunState) -> Vec<Standing> {
    let baseline = state.baseline();
    let arms = Arms::experiments(state, baseline, state.margin());
    let grid = Grid::of(&arms.trials);
    let mut names = Vec::new();
    let mut p_values = Vec::new();
    for places in grid.places.chunks(1) {
        let scope = Scope {
            grid: &grid,
            places,
        };
        for experiment in grid
            .arms
            .iter()
            .filter(|experiment| **experiment != baseline)
        {
            if scope.trials(experiment).is_empty() || scope.trials(baseline).is_empty() {
                continue;
            }
            let (pairs, _) = scope.pairs(experiment, baseline);
            names.push((places[0].to_owned(), (*experiment).to_owned()));
            p_values.push(Evidence::of(&pairs).p());
        }
    }
    let standing = |((environment, experiment), p)| Standing {
        environment,
        experiment,
        decided: p < ALPHA,
    };
    names
        .into_iter()
        .zip(holm(&p_values))
        .map(standing)
        .collect()
}
