//! The trials of a comparison, each with its arm and its place.
//!
//! Arms are compared in places, and neither need be what its name is in a run:
//!
//! | by | arm | place |
//! |---|---|---|
//! | experiment | experiment | environment |
//! | environment | environment | experiment |
//! | run | run | variant |

use std::borrow::Cow;

use super::by::By;
use crate::config::verdict::Measure;
use crate::run::event::TrialHead;
use crate::run::outcome::TrialReport;
use crate::run::state::RunState;

/// Everything that a comparison needs to know.
#[derive(Debug)]
pub(crate) struct Arms<'a> {
    /// The kind of the arms: only the words depend on it.
    pub(crate) by: By,
    /// The arm that the others are compared with.
    pub(crate) baseline: &'a str,
    pub(crate) trials: Vec<ArmTrial<'a>>,
    /// Differences that are smaller make no difference.
    pub(crate) margin: f64,
    /// The figure that the verdicts are about.
    pub(crate) measure: Measure,
    pub(crate) concurrency: usize,
    /// The arms that differ from the baseline in nothing but their name, each with its place.
    pub(crate) identical: Vec<(&'a str, &'a str)>,
    /// Trials were added for as long as the comparisons were undecided, up to so many repetitions.
    pub(crate) adaptive: Option<u32>,
    /// Tokens, cost and time have p-values. Those of many arms take long.
    pub(crate) tests_expenses: bool,
}

/// A trial as part of a comparison.
#[derive(Debug, Clone)]
pub(crate) struct ArmTrial<'a> {
    pub(crate) eval: &'a str,
    pub(crate) arm: &'a str,
    pub(crate) place: Cow<'a, str>,
    pub(crate) repetition: u32,
    pub(crate) agent: &'a str,
    pub(crate) report: &'a TrialReport,
}

impl<'a> Arms<'a> {
    /// The experiments of a run, in its environments.
    pub(crate) fn experiments(state: &'a RunState, baseline: &'a str, margin: f64) -> Self {
        Arms::within(state, By::Experiment, baseline, margin, |head| {
            (head.experiment.as_str(), head.environment.as_str())
        })
    }

    /// The environments of a run, with its experiments.
    pub(crate) fn environments(state: &'a RunState, baseline: &'a str, margin: f64) -> Self {
        Arms::within(state, By::Environment, baseline, margin, |head| {
            (head.environment.as_str(), head.experiment.as_str())
        })
    }

    fn within(
        state: &'a RunState,
        by: By,
        baseline: &'a str,
        margin: f64,
        arm_and_place: fn(&TrialHead) -> (&str, &str),
    ) -> Self {
        let mut trials = Vec::with_capacity(state.trials().len());
        for trial in state.trials() {
            let (arm, place) = arm_and_place(&trial.head);
            trials.push(ArmTrial {
                eval: &trial.head.eval,
                arm,
                place: Cow::Borrowed(place),
                repetition: trial.head.repetition,
                agent: &trial.head.agent,
                report: &trial.report,
            });
        }
        let identical = match by {
            By::Experiment if baseline == state.baseline() => state
                .identical_to_baseline()
                .iter()
                .map(|variant| (variant.experiment.as_str(), variant.environment.as_str()))
                .collect(),
            _ => Vec::new(),
        };
        Arms {
            by,
            baseline,
            identical,
            trials,
            margin,
            measure: state.measure(),
            concurrency: state.concurrency(),
            adaptive: state.adaptive().map(|bounds| bounds.max),
            tests_expenses: true,
        }
    }
}
