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

use serde::{Deserialize, Serialize};

use crate::config::verdict::Measure;
use crate::run::state::{RunState, Trial};

/// Arms are compared in places: experiments in each environment, environments with each experiment, runs in each
/// variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Experiments, in each environment.
    #[default]
    Experiment,
    /// Environments, with each experiment.
    Environment,
    /// Runs, in each variant.
    Run,
}

impl By {
    /// Returns the word for an arm.
    pub fn as_str(self) -> &'static str {
        match self {
            By::Experiment => "experiment",
            By::Environment => "environment",
            By::Run => "run",
        }
    }

    /// Returns the word for a place.
    pub fn place(self) -> &'static str {
        match self {
            By::Experiment => "environment",
            By::Environment => "experiment",
            By::Run => "variant",
        }
    }
}

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
    pub(crate) arm: &'a str,
    pub(crate) place: Cow<'a, str>,
    pub(crate) trial: &'a Trial,
}

impl<'a> Arms<'a> {
    /// Trials of a run, which says the rest.
    pub(crate) fn new(
        by: By,
        baseline: &'a str,
        trials: Vec<ArmTrial<'a>>,
        state: &RunState,
    ) -> Self {
        Arms {
            by,
            baseline,
            trials,
            margin: state.margin(),
            measure: state.measure(),
            concurrency: state.concurrency(),
            identical: Vec::new(),
            adaptive: state.adaptive().map(|bounds| bounds.max),
            tests_expenses: true,
        }
    }

    /// The experiments of a run in its environments, or the other way round.
    pub(crate) fn within(state: &'a RunState, by: By, baseline: &'a str, margin: f64) -> Self {
        let in_arm = |trial: &'a Trial| {
            let (experiment, environment) = (&trial.head.experiment, &trial.head.environment);
            let (arm, place) = match by {
                By::Environment => (environment, experiment),
                By::Experiment | By::Run => (experiment, environment),
            };
            ArmTrial {
                arm,
                place: Cow::Borrowed(place),
                trial,
            }
        };
        let trials = state.trials().iter().map(in_arm).collect();
        let mut arms = Arms {
            margin,
            ..Arms::new(by, baseline, trials, state)
        };
        if by != By::Environment && baseline == state.baseline() {
            let same = state.identical_to_baseline().iter();
            let same = same.map(|variant| (&*variant.experiment, &*variant.environment));
            arms.identical = same.collect();
        }
        arms
    }
}
