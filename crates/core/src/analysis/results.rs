//! `results.json`: the document that other programs read.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::analysis::summary::{NoVerdict, Summary, Verdict, standings, summarise};
use crate::config::adaptive::Adaptive;
use crate::plan::descriptions::Descriptions;
use crate::run::event::{RunStatus, StopReason, StoppedVariant, TrialHead};
use crate::run::outcome::{Attempt, TrialReport};
use crate::run::remark::Remark;
use crate::run::seal::JournalEnd;
use crate::run::settings::{Demand, FailOn};
use crate::run::state::{RunState, Spent};

/// The version of `results.json`.
pub const SCHEMA_VERSION: u32 = 1;

/// The document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    /// The version of this document.
    pub schema_version: u32,
    /// The version of Terca that ran it last.
    pub terca_version: String,
    /// The run's name.
    pub run: String,
    /// The suite's name.
    pub suite: String,
    /// The descriptions of the suite, its evals, variants and tests.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub descriptions: Descriptions,
    /// The run whose recorded answers took the place of models: tokens are as recorded, and nothing was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<String>,
    /// The run whose failures were run again, where there is nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_in: Option<String>,
    /// The status of the run.
    pub status: RunStatus,
    /// The seed of everything that is drawn.
    pub seed: u64,
    /// The grading that this shows; earlier ones are in `gradings/`.
    pub grading: u32,
    /// The time at which the run began.
    pub started_at: Option<Timestamp>,
    /// The time at which the run ended.
    pub finished_at: Option<Timestamp>,
    /// Variants whose further trials were not started, since they would all have ended in the same error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped_variants: Vec<StoppedVariant>,
    /// The reason why it ended before all its trials had run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<StopReason>,
    /// The repetitions of an adaptive run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveResult>,
    /// The trials, in the order of their ids.
    pub trials: Vec<TrialResult>,
    /// The summary.
    pub summary: Summary,
    /// The end of the journal that this was made from. It tells whether the journal has lost lines since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalEnd>,
}

fn is_empty(descriptions: &Descriptions) -> bool {
    *descriptions == Descriptions::default()
}

/// A trial with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    /// The facts that were known before it ran.
    #[serde(flatten)]
    pub head: Arc<TrialHead>,
    /// The result.
    #[serde(flatten)]
    pub report: Arc<TrialReport>,
    /// Attempts before this one, which ended in errors. What they left is in `attempts/` of the trial's folder.
    #[serde(
        default,
        rename = "earlierAttempts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub earlier: Vec<Attempt>,
    /// By all its attempts, and by judges.
    #[serde(default)]
    pub spent: Spent,
    /// A person's remark about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<Remark>,
}

/// Trials that no round asked for are not among the trials of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdaptiveResult {
    /// The fewest repetitions.
    pub min: u32,
    /// The most repetitions.
    pub max: u32,
    /// The last repetition that was asked for.
    pub reached: u32,
    /// The number of experiments that are compared with the baseline, in all environments.
    pub comparisons: usize,
    /// The number of these comparisons that are not decided.
    pub undecided: usize,
}

impl AdaptiveResult {
    fn of(Adaptive { min, max }: Adaptive, state: &RunState) -> Self {
        let reached = state
            .trials()
            .iter()
            .map(|trial| trial.head.repetition)
            .max()
            .unwrap_or(0);
        let standings = standings(state);
        let undecided = standings
            .iter()
            .filter(|standing| !standing.decided)
            .count();
        AdaptiveResult {
            min,
            max,
            reached,
            comparisons: standings.len(),
            undecided,
        }
    }
}

impl Results {
    /// Returns how long the run took, in seconds. Never negative: clocks are set back now and then.
    pub fn seconds(&self) -> Option<f64> {
        let length = self.finished_at?.duration_since(self.started_at?);
        Some(length.as_secs_f64().max(0.0))
    }

    /// Adds remarks to the trials with these ids.
    pub fn with_remarks(mut self, remarks: &BTreeMap<u32, Remark>) -> Self {
        for trial in &mut self.trials {
            trial.remark = remarks.get(&trial.head.id).cloned();
        }
        self
    }

    /// Makes the document from a run.
    pub fn of(state: &RunState) -> Self {
        let start = state.start();
        Results {
            schema_version: SCHEMA_VERSION,
            terca_version: start.terca_version.clone(),
            run: start.run.clone(),
            suite: start.suite.clone(),
            descriptions: start.descriptions.clone(),
            replay_of: start.replay_of.clone(),
            failed_in: start.failed_in.clone(),
            status: state.status(),
            seed: start.seed,
            grading: state.grading(),
            started_at: state.started_at(),
            finished_at: state.finished_at(),
            stopped_variants: state.stopped_variants().to_vec(),
            stopped: state.stopping(),
            adaptive: start
                .adaptive
                .filter(|_| !state.tries_tricks())
                .map(|bounds| AdaptiveResult::of(bounds, state)),
            trials: state
                .trials()
                .iter()
                .map(|trial| TrialResult {
                    head: trial.head.clone(),
                    report: trial.report.clone(),
                    earlier: trial.earlier.clone(),
                    spent: trial.spent,
                    remark: None,
                })
                .collect(),
            summary: summarise(state),
            journal: None,
        }
    }
}

/// The exit status of a run: 0 when the share asked for passed and no verdict is one to fail on, 1 when not, 3 when some trials
/// could not be judged, so that the result is incomplete. In an ablation, rows without a part that helps are expected to fail.
pub fn exit_status(results: &Results, demand: Demand) -> u8 {
    let summary = &results.summary;
    let judged = summary.passed + summary.partial + summary.failed;
    if summary.errors > 0 {
        return 3;
    }
    if summary.trials == 0 {
        return 0;
    }
    let unfinished = summary.pending + summary.interrupted;
    let share = match judged {
        // Nothing was to be verified, so nothing failed.
        0 if summary.unverified > 0 => 1.0,
        judged => summary.passed as f64 / judged.max(1) as f64,
    };
    // A share is a quotient of small numbers: 0.1 + 0.2 must not fail 0.3.
    let is_ablation = summary.no_verdict == Some(NoVerdict::Ablation);
    let enough = is_ablation || share + 1e-9 >= demand.fail_under;
    let is_bad = |verdict: Verdict| match demand.fail_on {
        None | Some(FailOn::Errors) => false,
        Some(FailOn::Worse) => verdict == Verdict::Worse,
        Some(FailOn::NotBetter) => verdict != Verdict::Better,
    };
    let mut comparisons = summary.comparisons.iter();
    let is_bad = comparisons.any(|comparison| is_bad(comparison.verdict));
    // Without a comparison nothing is better.
    let is_missing = demand.fail_on == Some(FailOn::NotBetter) && summary.comparisons.is_empty();
    u8::from(!enough || unfinished > 0 || is_bad || is_missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::summary::Comparison;

    #[test]
    fn exit_statuses() {
        let results = |passed, failed, errors, pending| {
            let summary = Summary {
                passed,
                failed,
                errors,
                pending,
                trials: passed + failed + errors + pending,
                ..Summary::default()
            };
            Results {
                summary,
                ..Results::of(&RunState::default())
            }
        };
        for (passed, failed, errors, pending, fail_under, status) in [
            (4, 0, 0, 0, 1.0, 0),
            (3, 1, 0, 0, 1.0, 1),
            (3, 1, 0, 0, 0.75, 0),
            (3, 1, 0, 0, 0.76, 1),
            (3, 0, 1, 0, 1.0, 3),
            (3, 1, 1, 0, 0.0, 3),
            (1, 0, 0, 1, 1.0, 1),
            (0, 2, 0, 0, 0.0, 0),
        ] {
            assert_eq!(
                exit_status(
                    &results(passed, failed, errors, pending),
                    Demand {
                        fail_under,
                        fail_on: None
                    }
                ),
                status
            );
        }
        for (verdict, fails_on) in [
            (Some(Verdict::Better), [0, 0, 0]),
            (Some(Verdict::Equivalent), [0, 0, 1]),
            (Some(Verdict::Inconclusive), [0, 0, 1]),
            (Some(Verdict::Worse), [0, 1, 1]),
            (None, [0, 0, 1]),
        ] {
            let mut results = results(1, 3, 0, 0);
            let comparison = verdict.map(|verdict| Comparison {
                verdict,
                ..Comparison::default()
            });
            results.summary.comparisons.extend(comparison);
            let statuses = [FailOn::Errors, FailOn::Worse, FailOn::NotBetter].map(|fail_on| {
                let demand = Demand {
                    fail_under: 0.0,
                    fail_on: Some(fail_on),
                };
                exit_status(&results, demand)
            });
            assert_eq!(statuses, fails_on, "{verdict:?}");
        }
    }
}
