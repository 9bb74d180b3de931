//! The summary of a run: of every cell (an eval in a variant), of every variant over all evals, and of every
//! experiment against the baseline.
//!
//! Errors are counted apart and are in no denominator: a trial that could not be judged says nothing about the
//! agent. A variant's pass rate is the mean of its evals' rates, so that an eval with more repetitions does not
//! weigh more.
//!
//! Counts and figures take one pass over the trials and are there at every moment. Comparisons come when the run has
//! ended: a p-value that is looked at while trials come in, until it pleases, is not one.

mod ablation;
mod compare;
mod comparison;
mod confounders;
mod delivery;
mod effect;
mod evidence;
mod figures;
mod mcp_servers;
mod pairs;
pub mod remarks;
mod sentence;
mod warnings;
pub mod wording;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use ablation::{AblationSummary, Finding, PairHint, PartEffect};
pub(crate) use compare::compare_arms;
pub use comparison::MOST_EVALS;
pub use comparison::{ArmFigures, Beyond, Change, Comparison, EvalEffect, Repetitions, Verdict};
pub use comparison::{Outlook, Proposal};
pub use delivery::{DeliveryCounts, McpCounts};
pub use effect::Effect;
pub use evidence::{Evidence, Standing, standings};
pub use figures::{Figures, Reliability};
pub use mcp_servers::{McpServerSummary, McpToolSummary};
pub use pairs::By;
pub(crate) use pairs::{ArmTrial, Arms};
pub use remarks::{EvalFact, EvalRemark};

use crate::agent::control::is_control;
use crate::analysis::distinct::distinct;
pub use crate::config::verdict::{DEFAULT_MARGIN, Measure};
use crate::run::event::RunStatus;
use crate::run::outcome::TrialReport;
use crate::run::state::{RunState, SpentTotal, VariantProgress};
use pairs::{Cell, Grid};

/// Of the `summary` in `results.json`; it grows when a key changes its meaning or goes away.
pub const SUMMARY_VERSION: u32 = 3;

/// The summary of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// The version of this document.
    pub version: u32,
    /// The number of trials.
    pub trials: usize,
    /// The trials that have the full score.
    pub passed: usize,
    /// The trials with a score between 0 and 1.
    pub partial: usize,
    /// The trials with a score of 0.
    pub failed: usize,
    /// The trials of evals without tests. They are in no rate and in no verdict.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unverified: usize,
    /// The trials that could not be judged.
    pub errors: usize,
    /// The trials that a signal stopped.
    pub interrupted: usize,
    /// The trials that did not run.
    pub pending: usize,
    /// By all attempts of all trials, and by judges.
    #[serde(default)]
    pub spent: SpentTotal,
    /// The experiment that the others are compared with.
    pub baseline: String,
    /// Differences in pass rate that are smaller make no difference.
    pub margin: f64,
    /// The variants, over all evals.
    pub variants: Vec<VariantSummary>,
    /// The MCP servers that were behind a tap, by name.
    #[serde(
        default,
        rename = "mcpServers",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub mcp_servers: BTreeMap<String, McpServerSummary>,
    /// The evals in each variant.
    pub cells: Vec<CellSummary>,
    /// Empty while the run goes on.
    pub comparisons: Vec<Comparison>,
    /// The parts of an ablation, when it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ablation: Option<AblationSummary>,
    /// The reason why experiments that ended have no verdict.
    #[serde(default, rename = "noVerdict", skip_serializing_if = "Option::is_none")]
    pub no_verdict: Option<NoVerdict>,
    /// Remarks about evals that tell less than they seem to, when the run has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<EvalRemark>,
}

/// Leaves a count out that older runs do not have, so that their results are still those of their journals.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Summary {
    /// Tells whether a trial of a variant that does not pass is bad news. Where variants are compared, it is one that is
    /// worse than the baseline: the verdict is the news.
    pub fn is_to_pass(&self, environment: &str, experiment: &str) -> bool {
        let is_worse = |comparison: &Comparison| {
            let place = comparison.place.as_deref();
            comparison.verdict == Verdict::Worse
                && comparison.arm == experiment
                && place.is_none_or(|place| place == environment)
        };
        self.comparisons.is_empty() || self.comparisons.iter().any(is_worse)
    }
}

/// The reason why there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NoVerdict {
    /// All trials are of agents that prove evals.
    Controls,
    /// No trial has a score.
    NothingJudged,
    /// The trials were chosen because they had failed: of those, more pass by chance alone.
    OnlyFailed,
    /// The experiments are the rows of an ablation, whose parts are compared instead.
    Ablation,
}

impl NoVerdict {
    fn of(state: &RunState) -> Option<Self> {
        let trials = state.trials();
        let has_experiments = trials
            .iter()
            .any(|trial| trial.head.experiment != state.baseline());
        if !has_experiments {
            return None;
        }
        let mut agents = trials.iter().map(|trial| trial.head.agent.as_str());
        let counts = state.counts();
        if agents.all(is_control) {
            Some(NoVerdict::Controls)
        } else if counts.passed + counts.partial + counts.failed == 0 {
            Some(NoVerdict::NothingJudged)
        } else if state.start().failed_in.is_some() {
            Some(NoVerdict::OnlyFailed)
        } else if state.ablation().is_some() {
            Some(NoVerdict::Ablation)
        } else {
            None
        }
    }
}

/// A variant over all evals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantSummary {
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// By all attempts of its trials, and by judges.
    #[serde(default)]
    pub spent: SpentTotal,
    /// The deliveries to its agents.
    pub delivery: DeliveryCounts,
}

/// An eval in a variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    /// The eval's name.
    pub eval: String,
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Summarises a run, with the comparisons when it has ended.
pub fn summarise(state: &RunState) -> Summary {
    let figures = summarise_figures(state);
    if state.status() == RunStatus::Running {
        return figures;
    }
    let no_verdict = NoVerdict::of(state);
    let comparisons = match no_verdict {
        Some(_) => Vec::new(),
        None => compare(state, state.baseline(), state.margin()),
    };
    let design = state
        .ablation()
        .filter(|_| no_verdict == Some(NoVerdict::Ablation));
    Summary {
        comparisons,
        ablation: design.map(|design| AblationSummary::of(state, design)),
        no_verdict,
        remarks: remarks::of(state),
        ..figures
    }
}

/// Summarises a run without comparisons, which take a moment.
pub fn summarise_figures(state: &RunState) -> Summary {
    let arms = Arms::within(state, By::Experiment, state.baseline(), state.margin());
    let grid = Grid::of(&arms.trials);
    let cells: Vec<CellSummary> = grid.cells.iter().map(CellSummary::of).collect();
    let (progress, counts) = (state.variants(), state.counts());
    Summary {
        version: SUMMARY_VERSION,
        trials: counts.total,
        passed: counts.passed,
        partial: counts.partial,
        failed: counts.failed,
        errors: counts.errors,
        unverified: counts.unverified,
        interrupted: counts.interrupted,
        pending: counts.total - counts.finished(),
        spent: state.spent(),
        baseline: state.baseline().to_owned(),
        margin: state.margin(),
        variants: distinct(grid.cells.iter().map(|cell| (cell.place, cell.arm)))
            .into_iter()
            .map(|(place, arm)| VariantSummary::of(place, arm, &grid, &cells, &progress))
            .collect(),
        mcp_servers: mcp_servers::of(state.trials().iter().map(|trial| &*trial.report)),
        cells,
        ..Summary::default()
    }
}

/// Compares every other experiment with the baseline: over all environments, if there are several, and in each.
pub fn compare(state: &RunState, baseline: &str, margin: f64) -> Vec<Comparison> {
    compare_arms(&Arms::within(state, By::Experiment, baseline, margin))
}

impl CellSummary {
    fn of(cell: &Cell<'_>) -> Self {
        CellSummary {
            eval: cell.eval.to_owned(),
            environment: cell.place.to_owned(),
            experiment: cell.arm.to_owned(),
            figures: Figures::of_cell(cell),
        }
    }
}

impl VariantSummary {
    fn of(
        place: &str,
        arm: &str,
        grid: &Grid<'_>,
        cells: &[CellSummary],
        progress: &[VariantProgress],
    ) -> Self {
        let own = grid.cells.iter().zip(cells);
        let (own, of_evals): (Vec<&Cell<'_>>, Vec<&Figures>) = own
            .filter(|(cell, _)| cell.place == place && cell.arm == arm)
            .map(|(cell, summary)| (cell, &summary.figures))
            .unzip();
        let trials: Vec<&TrialReport> = own.into_iter().flat_map(Cell::reports).collect();
        let is_it =
            |known: &&VariantProgress| known.environment == place && known.experiment == arm;
        let progress = progress.iter().find(is_it);
        VariantSummary {
            environment: place.to_owned(),
            experiment: arm.to_owned(),
            figures: Figures::of_variant(&trials, &of_evals),
            spent: progress.map_or_else(SpentTotal::default, |known| known.spent),
            delivery: DeliveryCounts::of(&trials),
        }
    }
}
