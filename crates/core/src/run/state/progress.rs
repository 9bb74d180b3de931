//! The progress of each variant: what waits, what runs, how long trials take, and what they have spent.

use super::spent::SpentTotal;
use crate::run::event::TrialHead;
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
    /// The time of the trials that were judged.
    pub took: Took,
    /// The spending of all its trials.
    pub spent: SpentTotal,
    /// Trials that have no result yet and are not in flight.
    pub(super) open: usize,
    /// Its further trials are not started.
    pub(super) stopped: bool,
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
    pub(super) fn new(head: &TrialHead) -> Self {
        VariantProgress {
            environment: head.environment.clone(),
            experiment: head.experiment.clone(),
            running: 0,
            took: Took::default(),
            spent: SpentTotal::default(),
            open: 0,
            stopped: false,
        }
    }

    /// Returns how many trials are yet to be started. A variant that was stopped starts none.
    pub fn waiting(&self) -> usize {
        if self.stopped { 0 } else { self.open }
    }

    pub(super) fn is(&self, environment: &str, experiment: &str) -> bool {
        self.experiment == experiment && self.environment == environment
    }

    /// Follows one trial from its share before to its share now.
    pub(super) fn follow(&mut self, before: Share, now: Share) {
        self.open = self.open + usize::from(now.open) - usize::from(before.open);
        self.running = self.running + usize::from(now.running) - usize::from(before.running);
        if now.seconds != before.seconds {
            self.took.trials = self.took.trials + usize::from(now.seconds.is_some())
                - usize::from(before.seconds.is_some());
            self.took.seconds += now.seconds.unwrap_or(0.0) - before.seconds.unwrap_or(0.0);
        }
    }
}

/// The part of a trial in the progress of its variant.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Share {
    open: bool,
    running: bool,
    /// Only of a trial that was judged: an error ends early, or after a wait that says nothing about work, and a trial
    /// that was cut short would have taken longer.
    seconds: Option<f64>,
}

impl Share {
    pub(super) fn without_time(self) -> Self {
        Share {
            seconds: None,
            ..self
        }
    }

    pub(super) fn new(trial: &Trial) -> Self {
        let running = trial.live.is_some();
        let is_unfinished = matches!(trial.report.status, Status::Pending | Status::Interrupted);
        Share {
            open: is_unfinished && !running,
            running,
            seconds: trial
                .report
                .status
                .is_judged()
                .then_some(trial.report.duration_seconds),
        }
    }
}
