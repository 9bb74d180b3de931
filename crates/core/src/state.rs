//! The fold of all events: what is known of a run at this moment.
//!
//! Everything that shows or saves a run reads this. Law, and a test: folding `events.jsonl` gives `results.json`.
//!
//! ```text
//! trial threads ──EventKind──► scheduler: number ─► journal ─► RunState::apply ─► observers
//!                                                      │
//! events.jsonl ──────────────────────── fold ──────────┴──► results.json, resume, merge, regrade, reports
//! ```
//!
//! Why events, and one fold:
//!
//! - **One writer.** Many trials run at once, and each would like to write what it knows. The scheduler's loop alone
//!   numbers an event, appends it, applies it and shows it, in that order: what somebody has seen is on disk.
//! - **A crash loses nothing that was finished.** An event is one line and one `write`. A line that is torn is cut
//!   off when the run is opened again; what was in flight has simply not ended, and `RunResumed` says so.
//! - **Events say what happened, the fold what follows.** How many passed is in no event: it is counted here, in one
//!   place, also when a trial ends a second time after a resume or is graded again. So a mistake in counting is
//!   mended for runs of the past, too.
//! - **What changes no result is not journaled** (`Progress`): agents say something many times a second.
//! - **Applying is pure and total.** No clock, no file, and an event about a trial that nobody knows changes nothing.
//!   A new field of an event needs a default, so that old journals are still read; a new meaning is a new event, which
//!   an older Terca refuses rather than misreads.
//!
//! Rejected:
//!
//! - *`results.json` as the truth, rewritten for every trial.* Quadratic: a program that did so did not come to the
//!   end of 5,000 trials in a quarter of an hour. Here it is a view, replaced now and then (`engine::store`).
//! - *A database.* There is one writer, and a file that only grows can be read while it is written, with `grep` too.
//! - *A shared state behind a lock, changed by whoever has news.* Then the order in which things are shown, saved and
//!   counted is a question of luck, and a display can show what a crash forgets.
//! - *Snapshots to start the fold from.* The fold is one pass over a file that is read anyway; a second form of the
//!   truth could differ from the first.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::adaptive::Adaptive;
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
    /// Repetitions are added until the comparisons are decided.
    pub adaptive: Option<Adaptive>,
    pub status: RunStatus,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// Why no further trial is started.
    pub stopping: Option<StopReason>,
    /// In the order of their ids.
    pub trials: Vec<Trial>,
    /// Trials of an adaptive run that no round has asked for, in the order of their ids. They are part of no result.
    pub spare: Vec<TrialHead>,
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
            adaptive: None,
            status: RunStatus::Running,
            started_at: None,
            finished_at: None,
            stopping: None,
            trials: Vec::new(),
            spare: Vec::new(),
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
            EventKind::RunStarted {
                run,
                suite,
                terca_version,
                seed,
                concurrency,
                baseline,
                adaptive,
                trials,
            } => {
                let at_once = |head: &&TrialHead| adaptive.is_none_or(|bounds| head.repetition <= bounds.min);
                let (trials, spare): (Vec<&TrialHead>, Vec<&TrialHead>) = trials.iter().partition(at_once);
                *self = RunState {
                    run: run.clone(),
                    suite: suite.clone(),
                    terca_version: terca_version.clone(),
                    seed: *seed,
                    concurrency: *concurrency,
                    baseline: baseline.clone(),
                    adaptive: *adaptive,
                    started_at: Some(event.at),
                    counts: Counts { total: trials.len(), ..Counts::default() },
                    trials: trials.into_iter().cloned().map(Trial::pending).collect(),
                    spare: spare.into_iter().cloned().collect(),
                    ..RunState::default()
                };
            }
            EventKind::RunResumed { terca_version, concurrency } => {
                self.terca_version.clone_from(terca_version);
                self.concurrency = *concurrency;
                self.resumed();
            }
            EventKind::RoundStarted { trials, .. } => self.round_started(trials),
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
            EventKind::Stopping { reason } => {
                self.stopping = Some(*reason);
                if *reason == StopReason::Budget {
                    self.give_back();
                }
            }
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

    fn round_started(&mut self, ids: &[u32]) {
        let is_called = |head: &TrialHead| ids.contains(&head.id);
        let (called, spare): (Vec<TrialHead>, _) =
            std::mem::take(&mut self.spare).into_iter().partition(is_called);
        self.spare = spare;
        self.rearrange(|trials| trials.into_iter().chain(called.into_iter().map(Trial::pending)).collect());
    }

    /// What a round asked for and nobody can pay for is spare again: the comparisons go by what there is.
    fn give_back(&mut self) {
        let Some(Adaptive { min, .. }) = self.adaptive else { return };
        let is_begun = |trial: &Trial| {
            trial.live.is_some() || trial.report.status != Status::Pending || !trial.earlier.is_empty()
        };
        let mut given: Vec<Trial> = Vec::new();
        self.rearrange(|trials| {
            let (kept, rest) =
                trials.into_iter().partition(|trial| trial.head.repetition <= min || is_begun(trial));
            given = rest;
            kept
        });
        self.spare.extend(given.into_iter().map(|trial| trial.head));
        self.spare.sort_by_key(|head| head.id);
    }

    /// Other trials, in the order of their ids; what is in flight stays so.
    fn rearrange(&mut self, change: impl FnOnce(Vec<Trial>) -> Vec<Trial>) {
        let flying: Vec<u32> = self.in_flight.iter().map(|index| self.trials[*index].head.id).collect();
        self.trials = change(std::mem::take(&mut self.trials));
        self.trials.sort_by_key(|trial| trial.head.id);
        self.counts.total = self.trials.len();
        self.in_flight = flying.into_iter().filter_map(|id| self.position(id)).collect();
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
