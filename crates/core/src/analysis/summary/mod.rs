//! What a run shows: for every cell (an eval in a variant), for every variant over all evals, and for every
//! experiment against the baseline.
//!
//! Errors are counted apart and are in no denominator: a trial that could not be judged says nothing about the
//! agent. A variant's pass rate is the mean of its evals' rates, so that an eval with more repetitions does not
//! weigh more.
//!
//! Counts and figures take one pass over the trials and are there at every moment. Comparisons come when the run has
//! ended: a p-value that is looked at while trials come in, until it pleases, is not one.

mod arms;
mod by;
mod compare;
mod comparison;
mod delivery;
mod effect;
mod evidence;
mod figures;
mod grid;
mod outlook;
mod sentence;
mod side;
mod terms;
mod verdict;
mod warnings;
pub mod wording;

use serde::{Deserialize, Serialize};

pub use by::By;
pub use comparison::{Comparison, EvalEffect, Repetitions};
pub use delivery::{DeliveryCounts, McpCounts};
pub use effect::Effect;
pub use evidence::{Evidence, Standing, standings};
pub use figures::{Figures, Reliability};
pub(crate) use outlook::fewest_evals;
pub use outlook::{Outlook, Proposal};
pub use side::{Arms, Side};
pub use verdict::Verdict;

use crate::run::event::RunStatus;
use crate::run::state::RunState;
use grid::Grid;

/// Of the `summary` in `results.json`; it grows when a key changes its meaning or goes away.
pub const SUMMARY_VERSION: u32 = 1;
/// Differences smaller than this make no difference.
pub const DEFAULT_MARGIN: f64 = 0.05;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    pub version: u32,
    pub trials: usize,
    pub passed: usize,
    pub partial: usize,
    pub failed: usize,
    pub errors: usize,
    pub interrupted: usize,
    pub pending: usize,
    /// The experiment that the others are compared with.
    pub baseline: String,
    /// Differences in pass rate that are smaller make no difference.
    pub margin: f64,
    pub variants: Vec<VariantSummary>,
    pub cells: Vec<CellSummary>,
    /// Empty while the run goes on.
    pub comparisons: Vec<Comparison>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantSummary {
    pub environment: String,
    pub experiment: String,
    #[serde(flatten)]
    pub figures: Figures,
    pub delivery: DeliveryCounts,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    pub eval: String,
    pub environment: String,
    pub experiment: String,
    #[serde(flatten)]
    pub figures: Figures,
}

pub fn summarise(state: &RunState) -> Summary {
    let grid = Grid::of(&state.trials);
    let cells: Vec<CellSummary> = grid.cells.iter().map(CellSummary::of).collect();
    let ended = state.status != RunStatus::Running;
    Summary {
        version: SUMMARY_VERSION,
        trials: state.counts.total,
        passed: state.counts.passed,
        partial: state.counts.partial,
        failed: state.counts.failed,
        errors: state.counts.errors,
        interrupted: state.counts.interrupted,
        pending: state.counts.total - state.counts.finished(),
        baseline: state.baseline.clone(),
        margin: DEFAULT_MARGIN,
        variants: grid
            .variants()
            .map(|variant| VariantSummary::of(&variant, &cells))
            .collect(),
        comparisons: if ended {
            compare(state, &state.baseline, DEFAULT_MARGIN)
        } else {
            Vec::new()
        },
        cells,
    }
}

/// Every other experiment against the baseline: over all environments, if there are several, and in each.
pub fn compare(state: &RunState, baseline: &str, margin: f64) -> Vec<Comparison> {
    compare_by(By::Experiment, state, baseline, margin)
}

/// The same, where the trials name other arms as their experiments and other places as their environments.
pub(crate) fn compare_by(by: By, state: &RunState, baseline: &str, margin: f64) -> Vec<Comparison> {
    let terms = terms::Terms {
        baseline,
        margin,
        seed: state.seed,
        concurrency: state.concurrency,
        by,
        adaptive: state.adaptive.is_some(),
    };
    compare::compare(&Grid::of(&state.trials), &terms)
}

impl CellSummary {
    fn of(cell: &grid::Cell<'_>) -> Self {
        CellSummary {
            eval: cell.eval.to_owned(),
            environment: cell.environment.to_owned(),
            experiment: cell.experiment.to_owned(),
            figures: Figures::of_cell(cell),
        }
    }
}

impl VariantSummary {
    /// `cells` are the summaries of the grid's cells, in its order.
    fn of(variant: &grid::Variant<'_, '_>, cells: &[CellSummary]) -> Self {
        let of_evals: Vec<&Figures> = variant
            .positions
            .iter()
            .map(|position| &cells[*position].figures)
            .collect();
        let trials = variant.trials();
        VariantSummary {
            environment: variant.environment.to_owned(),
            experiment: variant.experiment.to_owned(),
            figures: Figures::of_variant(&trials, &of_evals),
            delivery: DeliveryCounts::of(&trials),
        }
    }
}
