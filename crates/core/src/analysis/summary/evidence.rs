//! The evidence of an adaptive run: pairs of trials, one of each arm, that differ.
//!
//! A pair is the same repetition of the same eval in the same environment, judged in both arms. When an experiment
//! changes nothing, a pair that differs does so to either side with even odds, for every eval and however often it
//! has been repeated; so the e-value of `stats::sequential` may be looked at after every round, and 1/E is a p-value
//! that stays one. Half of α is spent on these looks. The other half is for one look at the exact test, when all
//! repetitions were run.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::pairs::{Arms, By, Cell, Grid, Pair, Scope};
use crate::config::verdict::Measure;
use crate::run::outcome::{Status, TrialReport};
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
    /// All repetitions that the run may have were run.
    #[serde(default)]
    pub at_max: bool,
}

impl Evidence {
    /// `max` is the number of repetitions that the run may have.
    pub(super) fn of(pairs: &[Pair<'_>], measure: Measure, max: u32) -> Self {
        let cells = || pairs.iter().flat_map(|pair| &pair.cells);
        let (mut number, mut better, mut worse) = (0, 0, 0);
        for (with, without) in cells().flat_map(|cells| both(*cells, measure)) {
            number += 1;
            better += usize::from(with > without);
            worse += usize::from(with < without);
        }
        let is_whole = |cell: &Cell<'_>| cell.trials.len() >= max as usize;
        // Beyond this it is certain, and not a number that JSON knows.
        const LARGEST: f64 = 690.0;
        Evidence {
            pairs: number,
            better,
            worse,
            e_value: ln_e_value(better, worse).min(LARGEST).exp(),
            at_max: cells().all(|(with, without)| is_whole(with) && is_whole(without)),
        }
    }

    /// Returns a p-value that is valid whenever it is looked at: half of α is for stopping early.
    fn early_p(&self) -> f64 {
        (2.0 / self.e_value).min(1.0)
    }

    /// Returns the p-value to report, from that of the fixed test. Half of α is for a look at it when all repetitions were run.
    pub(super) fn p(&self, fixed: Option<f64>) -> f64 {
        let at_max = fixed.filter(|_| self.at_max);
        at_max
            .map_or(1.0, |p| (2.0 * p).min(1.0))
            .min(self.early_p())
    }

    /// Returns whether the run stopped because it had seen enough, so that the difference is probably too large.
    pub fn stopped_early(&self) -> bool {
        !self.at_max && self.early_p() < ALPHA
    }
}

/// Returns the results of the experiment and the baseline, repetition by repetition.
fn both<'c>(
    (with, without): (&'c Cell<'c>, &'c Cell<'c>),
    measure: Measure,
) -> impl Iterator<Item = (f64, f64)> + 'c {
    let result = move |trial: &TrialReport| match measure {
        Measure::PassRate => f64::from(u8::from(trial.status == Status::Passed)),
        Measure::Score => trial.score.unwrap_or(0.0),
    };
    let outcomes = move |cell: &'c Cell<'c>| {
        let judged = cell
            .trials
            .iter()
            .filter(|trial| trial.report.status.is_judged());
        judged.map(move |trial| (trial.head.repetition, result(&trial.report)))
    };
    let others: HashMap<u32, f64> = outcomes(without).collect();
    outcomes(with).filter_map(move |(repetition, own)| Some((own, *others.get(&repetition)?)))
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
/// decided needs an e-value of 40 × the number of such comparisons, and one of them reaches that in 1 run of 40.
pub fn standings(state: &RunState) -> Vec<Standing> {
    let baseline = state.baseline();
    let arms = Arms::within(state, By::Experiment, baseline, state.margin());
    let max = arms.adaptive.unwrap_or(u32::MAX);
    let grid = Grid::of(&arms.trials);
    let mut standings = Vec::new();
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
            standings.push(Standing {
                environment: places[0].to_owned(),
                experiment: (*experiment).to_owned(),
                decided: false,
            });
            p_values.push(Evidence::of(&pairs, arms.measure, max).early_p());
        }
    }
    for (standing, p) in standings.iter_mut().zip(holm(&p_values)) {
        standing.decided = p < ALPHA;
    }
    standings
}
