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
//! - *A shared state behind a lock, changed by everybody with news.* Then the order in which things are shown, saved and
//!   counted is a question of luck, and a display can show what a crash forgets.
//! - *Snapshots to start the fold from.* The fold is one pass over a file that is read anyway; a second form of the
//!   truth could differ from the first.

mod fold;
mod spent;

use std::sync::Arc;

use jiff::Timestamp;

use crate::ablation::Ablation;
use crate::plan::VariantName;
use crate::run::event::{Phase, RunStart, RunStatus, StopReason, StoppedVariant, TrialHead};
use crate::run::outcome::{Attempt, Status, TrialReport};
use crate::transcript::Usage;
use crate::trial_error::ErrorKind;
use spent::Reports;
pub use spent::{Spent, SpentTotal, judges};

/// A run at this moment. Events change it, by [`RunState::apply`], and nothing else does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunState {
    /// The beginning, without its trials. A run that goes on has another version and another number of trials at a time.
    start: RunStart,
    status: RunStatus,
    started_at: Option<Timestamp>,
    finished_at: Option<Timestamp>,
    stopping: Option<StopReason>,
    /// In the order of their ids.
    trials: Vec<Trial>,
    /// In the order of their ids.
    spare: Vec<TrialHead>,
    counts: Counts,
    stopped_variants: Vec<StoppedVariant>,
    /// The number of the last grading after the first.
    grading: Option<u32>,
    /// Ids of trials, in the order in which they were started.
    in_flight: Vec<u32>,
    /// In the order in which the plan names them, those whose trials are all spare too.
    variants: Vec<VariantName>,
}

/// A trial of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The facts that were known before it ran. Shared with everything that is made from the state.
    pub head: Arc<TrialHead>,
    /// The result; pending until it has ended. Shared likewise, because it is the largest part of a run.
    pub report: Arc<TrialReport>,
    /// Present while it is in flight.
    pub live: Option<Live>,
    /// Attempts that ended in an error and were followed by another.
    pub earlier: Vec<Attempt>,
    /// The gradings of its work before that of the report, first to last.
    pub earlier_gradings: Vec<Grading>,
    /// The hash of the tests that graded it again; `None` where they are the run's own.
    pub regraded_by: Option<String>,
    /// The tokens and the cost of its attempts and judges.
    pub spent: Spent,
    /// The dollars that its agent says to have spent beyond that.
    pub(crate) claimed_usd: f64,
    reports: Reports,
    /// The position of its variant.
    variant: usize,
}

/// A grading of the work of a trial that was followed by another.
#[derive(Debug, Clone, PartialEq)]
pub struct Grading {
    /// The status that it gave.
    pub status: Status,
    /// The score that it gave.
    pub score: Option<f64>,
    /// The hash of the tests; `None` where they are the run's own.
    pub tests: Option<String>,
}

/// A trial in flight.
#[derive(Debug, Clone, PartialEq)]
pub struct Live {
    /// The time at which it was started.
    pub since: Timestamp,
    /// The node of the worker that it runs on; `None` on this machine.
    pub on: Option<String>,
    /// The phase it is in.
    pub phase: Phase,
    /// The time at which that began.
    pub phase_since: Timestamp,
    /// The agent's last words about its work.
    pub doing: String,
    /// The usage that the agent has reported so far.
    pub usage: Usage,
}

impl RunState {
    /// Returns the beginning, without its trials.
    pub fn start(&self) -> &RunStart {
        &self.start
    }

    /// Returns the run's name.
    pub fn run(&self) -> &str {
        &self.start.run
    }

    /// Returns the design, if this is an ablation.
    pub fn ablation(&self) -> Option<&Ablation> {
        self.start.ablation.as_deref()
    }

    /// Returns how many trials run at a time.
    pub fn concurrency(&self) -> usize {
        self.start.concurrency.max(1)
    }

    /// Returns the experiment that the others are compared with.
    pub fn baseline(&self) -> &str {
        &self.start.baseline
    }

    /// Returns the smallest difference that matters, as a share.
    pub fn margin(&self) -> f64 {
        self.start.verdict.margin
    }

    /// Looks at the run with another margin, where one is given. Its journal stays as it is.
    #[must_use]
    pub fn with_margin(mut self, margin: Option<f64>) -> Self {
        self.start.verdict = self.start.verdict.with_margin(margin);
        self
    }

    /// Returns the status of the run.
    pub fn status(&self) -> RunStatus {
        self.status
    }

    /// Returns when the run began.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    /// Returns when the run ended.
    pub fn finished_at(&self) -> Option<Timestamp> {
        self.finished_at
    }

    /// Returns why no further trial is started.
    pub fn stopping(&self) -> Option<StopReason> {
        self.stopping
    }

    /// Returns the trials, in the order of their ids.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Returns the trials of an adaptive run that no round has asked for, in the order of their ids. They are part of no
    /// result.
    pub fn spare(&self) -> &[TrialHead] {
        &self.spare
    }

    /// Returns whether the run tries tricks on its evals: its spare trials tell which of them work.
    pub fn tries_tricks(&self) -> bool {
        let called = self.trials.iter().map(|trial| &*trial.head);
        called.chain(&self.spare).any(TrialHead::is_cheat)
    }

    /// Returns how many trials ended how.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns the variants whose further trials are not started.
    pub fn stopped_variants(&self) -> &[StoppedVariant] {
        &self.stopped_variants
    }

    /// Returns how often the trials have been graded.
    pub fn grading(&self) -> u32 {
        self.grading.unwrap_or(1)
    }

    /// Returns the trials in flight, in the order in which they were started.
    pub fn in_flight(&self) -> impl ExactSizeIterator<Item = &Trial> {
        let ids = self.in_flight.iter();
        ids.map(|id| &self.trials[self.position(*id).unwrap_or_default()])
    }

    /// Notes that the process of the run is gone, which no event could say.
    pub fn abandon(&mut self) {
        if self.status == RunStatus::Running {
            self.status = RunStatus::Interrupted;
        }
    }

    /// Returns the progress of each variant.
    pub fn variants(&self) -> Vec<VariantProgress> {
        let mut variants: Vec<_> = self.variants.iter().map(VariantProgress::new).collect();
        for trial in &self.trials {
            variants[trial.variant].count(trial);
        }
        for stopped in &self.stopped_variants {
            let position = self.variant_position(&stopped.environment, &stopped.experiment);
            if let Some(position) = position {
                variants[position].waiting = 0;
            }
        }
        variants
    }

    /// Returns what the trials that ended have spent.
    pub fn spent(&self) -> SpentTotal {
        let mut total = SpentTotal::default();
        for trial in &self.trials {
            total.count(trial);
        }
        total
    }

    /// Returns what has been spent, with what the trials in flight have reported so far.
    pub fn spent_with_live(&self) -> SpentTotal {
        let mut total = self.spent();
        for live in self.in_flight().filter_map(|trial| trial.live.as_ref()) {
            total.spent.add(&live.usage);
        }
        total
    }

    /// Returns whether any agent has reported tokens so far.
    pub fn reports_tokens(&self) -> bool {
        let mut live = self.in_flight().filter_map(|trial| trial.live.as_ref());
        let mut ended = self.trials.iter();
        ended.any(|trial| trial.spent.tokens().is_some())
            || live.any(|live| live.usage.tokens().is_some())
    }

    /// Returns the trial with this id.
    pub fn trial(&self, id: u32) -> Option<&Trial> {
        self.position(id).map(|index| &self.trials[index])
    }

    fn position(&self, id: u32) -> Option<usize> {
        self.trials
            .binary_search_by_key(&id, |trial| trial.head.id)
            .ok()
    }
}

impl Trial {
    /// The number of the attempt that comes next, from 1.
    pub fn next_attempt(&self) -> u32 {
        let failed = self.earlier.len() + usize::from(self.report.status == Status::Error);
        failed as u32 + 1
    }

    /// Returns how many of its attempts so far have lost their worker.
    pub fn lost_attempts(&self) -> u32 {
        let is_error = self.report.status == Status::Error;
        let last = self.report.error.as_ref().filter(|_| is_error);
        let earlier = self.earlier.iter().filter_map(|one| one.error.as_ref());
        let errors = earlier.chain(last);
        let lost = errors.filter(|error| error.kind == ErrorKind::Lost);
        lost.count() as u32
    }

    /// Returns the position of its variant in [`RunState::variants`].
    pub fn variant(&self) -> usize {
        self.variant
    }

    fn pending(head: Arc<TrialHead>, report: Arc<TrialReport>, variant: usize) -> Self {
        Trial {
            head,
            report,
            live: None,
            earlier: Vec::new(),
            earlier_gradings: Vec::new(),
            regraded_by: None,
            spent: Spent::default(),
            claimed_usd: 0.0,
            reports: Reports::default(),
            variant,
        }
    }
}

/// Counts of trials by how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// The trials that are to run, or have.
    pub total: usize,
    /// The trials that have the full score.
    pub passed: usize,
    /// The trials with a score between 0 and 1.
    pub partial: usize,
    /// The trials with a score of 0.
    pub failed: usize,
    /// The trials of evals without tests.
    pub unverified: usize,
    /// The trials that could not be judged.
    pub errors: usize,
    /// The trials that a signal stopped.
    pub interrupted: usize,
}

impl Counts {
    /// Returns how many trials have ended.
    pub fn finished(&self) -> usize {
        let judged = self.passed + self.partial + self.failed;
        judged + self.unverified + self.errors + self.interrupted
    }

    fn change(&mut self, status: Status, by: impl Fn(usize) -> usize) {
        let count = match status {
            Status::Passed => &mut self.passed,
            Status::Partial => &mut self.partial,
            Status::Failed => &mut self.failed,
            Status::Unverified => &mut self.unverified,
            Status::Error => &mut self.errors,
            Status::Interrupted => &mut self.interrupted,
            Status::Pending => return,
        };
        *count = by(*count);
    }
}

/// A variant of a run, and how far it is.
#[derive(Debug, Clone, Default, PartialEq)]
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
    fn new(variant: &VariantName) -> Self {
        VariantProgress {
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            ..VariantProgress::default()
        }
    }

    /// Counts one of its trials.
    fn count(&mut self, trial: &Trial) {
        let report = &trial.report;
        if trial.live.is_some() {
            self.running += 1;
        } else if matches!(report.status, Status::Pending | Status::Interrupted) {
            self.waiting += 1;
        }
        // An error ends early, or after a wait that says nothing about work, and a trial that was cut short would have
        // taken longer.
        if report.status.is_done() {
            self.took.add(report.duration_seconds);
        }
        self.spent.count(trial);
    }
}
