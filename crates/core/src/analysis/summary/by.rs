//! The kind of the arms of a comparison: experiments, environments, or whole runs.

use serde::{Deserialize, Serialize};

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
