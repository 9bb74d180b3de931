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

mod counts;
mod fold;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::adaptive::Adaptive;
use crate::run::event::{Phase, RunStatus, StopReason, TrialHead};
use crate::run::outcome::{Attempt, Status, TrialReport};
use crate::transcript::Usage;
use crate::trial_error::TrialError;
pub use counts::Counts;

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
        u32::try_from(failed).unwrap_or(u32::MAX - 1) + 1
    }

    fn pending(head: TrialHead) -> Self {
        Trial {
            head,
            report: TrialReport::pending(),
            live: None,
            earlier: Vec::new(),
        }
    }
}
