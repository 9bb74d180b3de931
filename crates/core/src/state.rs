//! The fold of all events: what is known of a run at this moment.
//!
//! Everything that shows or saves a run reads this. Law: folding `events.jsonl` gives `results.json`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{Event, EventKind, Phase, RunStatus, StopReason, TrialHead};
use crate::outcome::{Attempt, Status, TrialError, TrialReport};
use crate::transcript::Usage;

#[derive(Debug, Clone, PartialEq)]
pub struct RunState {
    pub run: String,
    pub suite: String,
    pub terca_version: String,
    pub seed: u64,
    pub concurrency: usize,
    pub baseline: String,
    pub status: RunStatus,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// Why no further trial is started.
    pub stopping: Option<StopReason>,
    /// In the order of their ids.
    pub trials: Vec<Trial>,
    pub counts: Counts,
    pub stopped_variants: Vec<StoppedVariant>,
    /// How often the trials have been graded.
    pub grading: u32,
    /// The trials in flight, in the order they were started: positions in `trials`.
    pub in_flight: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    pub head: TrialHead,
    pub report: TrialReport,
    pub live: Option<Live>,
    /// Attempts that ended in an error and were followed by another.
    pub earlier: Vec<Attempt>,
}

/// A trial in flight.
#[derive(Debug, Clone, PartialEq)]
pub struct Live {
    pub since: Timestamp,
    pub phase: Phase,
    pub doing: String,
    pub usage: Usage,
}

/// A variant whose further trials were not started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoppedVariant {
    pub environment: String,
    pub experiment: String,
    pub error: TrialError,
    pub trials: usize,
}

/// How many trials ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub total: usize,
    pub passed: usize,
    pub partial: usize,
    pub failed: usize,
    pub errors: usize,
    pub interrupted: usize,
}

impl Counts {
    pub fn finished(&self) -> usize {
        self.passed + self.partial + self.failed + self.errors + self.interrupted
    }

    fn change(&mut self, status: Status, by: impl Fn(usize) -> usize) {
        let count = match status {
            Status::Passed => &mut self.passed,
            Status::Partial => &mut self.partial,
            Status::Failed => &mut self.failed,
            Status::Error => &mut self.errors,
            Status::Interrupted => &mut self.interrupted,
            Status::Pending => return,
        };
        *count = by(*count);
    }
}

impl Default for RunState {
    fn default() -> Self {
        RunState {
            run: String::new(),
            suite: String::new(),
            terca_version: String::new(),
            seed: 0,
            concurrency: 1,
            baseline: String::new(),
            status: RunStatus::Running,
            started_at: None,
            finished_at: None,
            stopping: None,
            trials: Vec::new(),
            counts: Counts::default(),
            stopped_variants: Vec::new(),
            grading: 1,
            in_flight: Vec::new(),
        }
    }
}

impl RunState {
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut state = RunState::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted { run, suite, terca_version, seed, concurrency, baseline, trials } => {
                *self = RunState {
                    run: run.clone(),
                    suite: suite.clone(),
                    terca_version: terca_version.clone(),
                    seed: *seed,
                    concurrency: *concurrency,
                    baseline: baseline.clone(),
                    started_at: Some(event.at),
                    counts: Counts { total: trials.len(), ..Counts::default() },
                    trials: trials.iter().cloned().map(Trial::pending).collect(),
                    ..RunState::default()
                };
            }
            EventKind::RunResumed { terca_version, concurrency } => {
                self.terca_version.clone_from(terca_version);
                self.concurrency = *concurrency;
                self.resumed();
            }
            EventKind::TrialStarted { trial } => self.trial_started(*trial, event.at),
            EventKind::PhaseStarted { trial, phase } => {
                if let Some(live) = self.live(*trial) {
                    live.phase = *phase;
                    live.doing.clear();
                }
            }
            EventKind::Progress { trial, doing, usage } => {
                if let Some(live) = self.live(*trial) {
                    live.doing.clone_from(doing);
                    live.usage = *usage;
                }
            }
            EventKind::TrialFinished { trial, report } => self.trial_finished(*trial, report),
            EventKind::AttemptFailed { trial, report, .. } => self.attempt_failed(*trial, report),
            EventKind::VariantStopped { environment, experiment, error, trials } => {
                self.stopped_variants.push(StoppedVariant {
                    environment: environment.clone(),
                    experiment: experiment.clone(),
                    error: error.clone(),
                    trials: *trials,
                });
            }
            EventKind::Regraded { grading, trials } => {
                self.grading = *grading;
                for regraded in trials {
                    self.regraded(regraded.trial, &regraded.report);
                }
            }
            EventKind::Stopping { reason } => self.stopping = Some(*reason),
            EventKind::RunFinished { status } => {
                self.status = *status;
                self.finished_at = Some(event.at);
            }
        }
    }

    /// What was in flight has not run; what was told about stopping is over.
    fn resumed(&mut self) {
        for index in std::mem::take(&mut self.in_flight) {
            self.trials[index].live = None;
        }
        self.status = RunStatus::Running;
        self.finished_at = None;
        self.stopping = None;
        self.stopped_variants.clear();
    }

    fn trial_started(&mut self, id: u32, at: Timestamp) {
        let Some(index) = self.position(id) else { return };
        self.trials[index].live =
            Some(Live { since: at, phase: Phase::Setup, doing: String::new(), usage: Usage::default() });
        // Started once more, after a crash say: still in flight once.
        self.in_flight.retain(|other| *other != index);
        self.in_flight.push(index);
    }

    fn trial_finished(&mut self, id: u32, report: &TrialReport) {
        let Some(index) = self.position(id) else { return };
        let trial = &mut self.trials[index];
        trial.live = None;
        let before = std::mem::replace(&mut trial.report, report.clone());
        if before.status == Status::Error {
            trial.earlier.push(Attempt::of(&before));
        }
        self.in_flight.retain(|other| *other != index);
        // A trial that is finished a second time, in a resumed run say, counts as it ended last.
        self.counts.change(before.status, |count| count - 1);
        self.counts.change(report.status, |count| count + 1);
    }

    fn attempt_failed(&mut self, id: u32, report: &TrialReport) {
        let Some(index) = self.position(id) else { return };
        let trial = &mut self.trials[index];
        trial.live = None;
        trial.earlier.push(Attempt::of(report));
        self.in_flight.retain(|other| *other != index);
    }

    fn regraded(&mut self, id: u32, report: &TrialReport) {
        let Some(index) = self.position(id) else { return };
        let before = std::mem::replace(&mut self.trials[index].report, report.clone());
        self.counts.change(before.status, |count| count - 1);
        self.counts.change(report.status, |count| count + 1);
    }

    fn live(&mut self, id: u32) -> Option<&mut Live> {
        let index = self.position(id)?;
        self.trials[index].live.as_mut()
    }

    pub fn trial(&self, id: u32) -> Option<&Trial> {
        self.position(id).map(|index| &self.trials[index])
    }

    fn position(&self, id: u32) -> Option<usize> {
        self.trials.binary_search_by_key(&id, |trial| trial.head.id).ok()
    }
}

impl Trial {
    /// The number of the attempt that comes next, from 1.
    pub fn next_attempt(&self) -> u32 {
        let failed = self.earlier.len() + usize::from(self.report.status == Status::Error);
        u32::try_from(failed).unwrap_or(u32::MAX - 1) + 1
    }

    fn pending(head: TrialHead) -> Self {
        Trial { head, report: TrialReport::pending(), live: None, earlier: Vec::new() }
    }
}
