//! The figures of a group of trials. What nobody reported is `null`.

use serde::{Deserialize, Serialize};

use super::is_zero;
use super::pairs::Cell;
use crate::run::outcome::{Status, TrialReport};
use crate::stats::reliability::{pass_at_k, pass_hat_k, worth_telling};
use crate::stats::sample::{mean, median};
use crate::stats::wilson::wilson;
use crate::stats::{Interval, student};
use crate::transcript::Stats;

/// The figures of a group of trials.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// The number of trials.
    pub trials: usize,
    /// The trials that have a score.
    pub judged: usize,
    /// The trials that have the full score.
    pub passed: usize,
    /// The trials that could not be judged.
    pub errors: usize,
    /// The trials that were judged at a later attempt, after one that ended in an error. Empty in a comparison.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retried: usize,
    /// Interrupted, or not run at all.
    pub unfinished: usize,
    /// The share of the judged trials that passed.
    pub pass_rate: Option<f64>,
    /// The pass rate with errors as failures, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate_of_all: Option<f64>,
    /// Of a cell: Wilson's, over its trials. Of a variant: Student's, over its evals.
    pub pass_rate_interval: Option<Interval>,
    /// The mean score of the judged trials.
    pub mean_score: Option<f64>,
    /// The mean time of a trial that came to its end.
    pub mean_seconds: Option<f64>,
    /// The median of the agent's time.
    pub median_seconds: Option<f64>,
    /// From set-up to the end of the tests.
    pub mean_trial_seconds: Option<f64>,
    /// The mean tokens of such a trial, input and output.
    pub mean_tokens: Option<f64>,
    /// The median of the tokens.
    pub median_tokens: Option<f64>,
    /// The mean cost of such a trial, in US dollars.
    pub mean_cost_usd: Option<f64>,
    /// The median of the cost.
    pub median_cost_usd: Option<f64>,
    /// For the k that the trials allow.
    pub reliability: Vec<Reliability>,
}

/// That one of k trials passes, and that all do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reliability {
    /// The number of trials.
    pub k: usize,
    /// The chance that at least one of them passes.
    pub pass_at_k: f64,
    /// The chance that all of them pass, where an attempt that ended in an error did not.
    pub pass_hat_k: f64,
}

/// Reads a figure of a trial.
pub(super) type Read = fn(&Stats) -> Option<f64>;

pub(super) const SECONDS: Read = |stats| stats.duration_seconds;
pub(super) const TOKENS: Read = |stats| stats.usage.tokens().map(|tokens| tokens as f64);
pub(super) const COST: Read = |stats| stats.usage.cost_usd;

impl Figures {
    pub(super) fn of_cell(cell: &Cell<'_>) -> Self {
        let trials: Vec<&TrialReport> = cell.reports().collect();
        let figures = Figures::of_trials(&trials);
        let Figures {
            passed,
            judged,
            errors,
            ..
        } = figures;
        // Nobody can tell whether an attempt that ended in an error would have passed. To say that all of k pass is a promise.
        let attempts = judged + cell.attempts_without_result();
        let of_k = |k| {
            Some(Reliability {
                k,
                pass_at_k: pass_at_k(judged, passed, k)?,
                pass_hat_k: pass_hat_k(attempts, passed, k)?,
            })
        };
        let of_all = (judged > 0).then(|| passed as f64 / (judged + errors) as f64);
        Figures {
            retried: cell.retried(),
            pass_rate_of_all: of_all.filter(|rate| figures.pass_rate != Some(*rate)),
            pass_rate_interval: wilson(passed, judged).ok(),
            reliability: worth_telling(judged).filter_map(of_k).collect(),
            ..figures
        }
    }

    /// Rates and scores are means over the evals; tokens, cost and time are of all trials.
    pub(super) fn of_variant(trials: &[&TrialReport], of_evals: &[&Figures]) -> Self {
        let of = |read: fn(&Figures) -> Option<f64>| -> Vec<f64> {
            of_evals
                .iter()
                .filter_map(|figures| read(figures))
                .collect()
        };
        let rates = of(|figures| figures.pass_rate);
        let scores = of(|figures| figures.mean_score);
        let of_all = of(|figures| match figures.errors {
            0 => figures.pass_rate,
            _ => Some(figures.pass_rate_of_all.unwrap_or_default()),
        });
        let of_all =
            mean(&of_all).filter(|rate| mean(&rates).is_some_and(|judged| judged != *rate));
        Figures {
            retried: of_evals.iter().map(|figures| figures.retried).sum(),
            pass_rate_of_all: of_all,
            reliability: mean_reliability(of_evals),
            ..Figures::of_arm(trials, &rates, &scores)
        }
    }

    /// One arm of a comparison: rates and scores are means over the evals judged in both arms. Reliability is left out.
    pub(super) fn of_arm(trials: &[&TrialReport], rates: &[f64], scores: &[f64]) -> Self {
        Figures {
            pass_rate: mean(rates),
            pass_rate_interval: student::interval_of_rates(rates).ok(),
            mean_score: mean(scores),
            ..Figures::of_trials(trials)
        }
    }

    fn of_trials(trials: &[&TrialReport]) -> Self {
        let those = |are: fn(Status) -> bool| -> Vec<&TrialReport> {
            let those = trials.iter().copied();
            those.filter(|trial| are(trial.status)).collect()
        };
        let (judged, done) = (those(Status::is_judged), those(Status::is_done));
        let count = |status| trials.iter().filter(|trial| trial.status == status).count();
        let figures = |read: Read| -> Vec<f64> {
            let figures = done.iter().filter_map(|trial| read(&trial.stats));
            figures.collect()
        };
        let (seconds, tokens, cost) = (figures(SECONDS), figures(TOKENS), figures(COST));
        let trial_seconds: Vec<f64> = done.iter().map(|trial| trial.duration_seconds).collect();
        let (passed, number) = (count(Status::Passed), judged.len());
        Figures {
            trials: trials.len(),
            judged: number,
            passed,
            errors: count(Status::Error),
            unfinished: count(Status::Interrupted) + count(Status::Pending),
            pass_rate: (number > 0).then(|| passed as f64 / number as f64),
            mean_score: mean(
                &judged
                    .iter()
                    .filter_map(|trial| trial.score)
                    .collect::<Vec<f64>>(),
            ),
            mean_seconds: mean(&seconds),
            median_seconds: median(&seconds),
            mean_trial_seconds: mean(&trial_seconds),
            mean_tokens: mean(&tokens),
            median_tokens: median(&tokens),
            mean_cost_usd: mean(&cost),
            median_cost_usd: median(&cost),
            ..Figures::default()
        }
    }
}

/// Over the evals that were judged, for the k that all of them allow.
fn mean_reliability(of_evals: &[&Figures]) -> Vec<Reliability> {
    let judged: Vec<&[Reliability]> = of_evals
        .iter()
        .filter(|figures| figures.judged > 0)
        .map(|figures| figures.reliability.as_slice())
        .collect();
    let ks = judged
        .iter()
        .map(|reliability| reliability.len())
        .min()
        .unwrap_or(0);
    let mean_of = |index: usize, read: fn(&Reliability) -> f64| {
        judged
            .iter()
            .map(|reliability| read(&reliability[index]))
            .sum::<f64>()
            / judged.len() as f64
    };
    (0..ks)
        .map(|index| Reliability {
            k: judged[0][index].k,
            pass_at_k: mean_of(index, |reliability| reliability.pass_at_k),
            pass_hat_k: mean_of(index, |reliability| reliability.pass_hat_k),
        })
        .collect()
}
