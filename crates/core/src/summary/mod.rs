//! Counts and means: for every cell (an eval in a variant) and for every variant over all evals.
//!
//! Errors are counted apart and are in no denominator: a trial that could not be judged says nothing about the
//! agent. A variant's pass rate is the mean of its evals' rates, so that an eval with more repetitions does not
//! weigh more.

use serde::{Deserialize, Serialize};

use crate::outcome::{Stats, Status, TrialReport};
use crate::state::{RunState, Trial};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    pub trials: usize,
    pub passed: usize,
    pub partial: usize,
    pub failed: usize,
    pub errors: usize,
    pub interrupted: usize,
    pub pending: usize,
    pub variants: Vec<VariantSummary>,
    pub cells: Vec<CellSummary>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantSummary {
    pub environment: String,
    pub experiment: String,
    #[serde(flatten)]
    pub figures: Figures,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    pub eval: String,
    pub environment: String,
    pub experiment: String,
    #[serde(flatten)]
    pub figures: Figures,
}

/// The figures of a group of trials. What nobody reported is `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    pub trials: usize,
    pub judged: usize,
    pub passed: usize,
    pub errors: usize,
    pub pass_rate: Option<f64>,
    pub mean_score: Option<f64>,
    pub mean_seconds: Option<f64>,
    pub mean_tokens: Option<f64>,
    pub mean_cost_usd: Option<f64>,
}

pub fn summarise(state: &RunState) -> Summary {
    let cells = cells(&state.trials);
    Summary {
        trials: state.counts.total,
        passed: state.counts.passed,
        partial: state.counts.partial,
        failed: state.counts.failed,
        errors: state.counts.errors,
        interrupted: state.counts.interrupted,
        pending: state.counts.total - state.counts.finished(),
        variants: variants(&cells, &state.trials),
        cells,
    }
}

/// Trials of one cell stand together in the order of ids.
fn cells(trials: &[Trial]) -> Vec<CellSummary> {
    trials
        .chunk_by(|a, b| key(a) == key(b))
        .map(|group| CellSummary {
            eval: group[0].head.eval.clone(),
            environment: group[0].head.environment.clone(),
            experiment: group[0].head.experiment.clone(),
            figures: figures(group.iter().map(|trial| &trial.report)),
        })
        .collect()
}

fn key(trial: &Trial) -> (&str, &str, &str) {
    (&trial.head.eval, &trial.head.environment, &trial.head.experiment)
}

fn variants(cells: &[CellSummary], trials: &[Trial]) -> Vec<VariantSummary> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for cell in cells {
        if !names.contains(&(&cell.environment, &cell.experiment)) {
            names.push((&cell.environment, &cell.experiment));
        }
    }
    names
        .into_iter()
        .map(|(environment, experiment)| {
            let is_here =
                |trial: &&Trial| trial.head.environment == environment && trial.head.experiment == experiment;
            let of_evals: Vec<&Figures> = cells
                .iter()
                .filter(|cell| cell.environment == environment && cell.experiment == experiment)
                .map(|cell| &cell.figures)
                .collect();
            let figures = Figures {
                pass_rate: mean(of_evals.iter().filter_map(|figures| figures.pass_rate)),
                mean_score: mean(of_evals.iter().filter_map(|figures| figures.mean_score)),
                ..figures(trials.iter().filter(is_here).map(|trial| &trial.report))
            };
            VariantSummary { environment: environment.to_owned(), experiment: experiment.to_owned(), figures }
        })
        .collect()
}

fn figures<'a>(reports: impl Iterator<Item = &'a TrialReport>) -> Figures {
    let reports: Vec<&TrialReport> = reports.collect();
    let judged: Vec<&TrialReport> =
        reports.iter().copied().filter(|report| report.status.is_judged()).collect();
    let passed = judged.iter().filter(|report| report.status == Status::Passed).count();
    let of_stats =
        |figure: fn(&Stats) -> Option<f64>| mean(judged.iter().filter_map(|report| figure(&report.stats)));
    Figures {
        trials: reports.len(),
        judged: judged.len(),
        passed,
        errors: reports.iter().filter(|report| report.status == Status::Error).count(),
        pass_rate: (!judged.is_empty()).then(|| passed as f64 / judged.len() as f64),
        mean_score: mean(judged.iter().filter_map(|report| report.score)),
        mean_seconds: of_stats(|stats| stats.duration_seconds),
        mean_tokens: of_stats(|stats| stats.usage.tokens().map(|tokens| tokens as f64)),
        mean_cost_usd: of_stats(|stats| stats.usage.cost_usd),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}
