//! The progress of each variant: what waits, what runs, how long trials take, and what they have spent.

use super::spent::SpentTotal;
use crate::plan::VariantName;
use crate::run::outcome::Status;

use super::Trial;

/// A variant of a run, and how far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantProgress {
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// Trials in flight.
    pub running: usize,
    /// Trials that are yet to be started. A variant that was stopped starts none.
    pub waiting: usize,
    /// The time of the trials that were judged.
    pub took: Took,
    /// The spending of all its trials.
    pub spent: SpentTotal,
}

/// The time of some trials together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Took {
    /// The number of trials.
    pub trials: usize,
    /// Their seconds, from set-up to the end of the tests.
    pub seconds: f64,
}

impl Took {
    /// Adds one trial.
    pub fn add(&mut self, seconds: f64) {
        self.trials += 1;
        self.seconds += seconds;
    }

    /// Returns the mean, if there is any trial.
    pub fn mean(self) -> Option<f64> {
        (self.trials > 0).then(|| self.seconds / self.trials as f64)
    }
}

impl VariantProgress {
    pub(super) fn new(variant: &VariantName) -> Self {
        VariantProgress {
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            running: 0,
            waiting: 0,
            took: Took::default(),
            spent: SpentTotal::default(),
        }
    }

    /// Counts one of its trials.
    pub(super) fn count(&mut self, trial: &Trial) {
        let report = &trial.report;
        if trial.live.is_some() {
            self.running += 1;
        } else if matches!(report.status, Status::Pending | Status::Interrupted) {
            self.waiting += 1;
        }
        // An error ends early, or after a wait that says nothing about work, and a trial that was cut short would have
        // taken longer.
        if report.status.is_judged() {
            self.took.add(report.duration_seconds);
        }
        self.spent.count(trial);
    }
}
