//! The events of a run, as data. The journal, `events.jsonl`, is a list of these.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::adaptive::Adaptive;
use crate::plan::TrialSpec;
use crate::run::outcome::TrialReport;
use crate::transcript::Usage;
use crate::trial_error::TrialError;

/// A numbered event: one line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub seq: u64,
    pub at: Timestamp,
    #[serde(flatten)]
    pub kind: EventKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum EventKind {
    RunStarted {
        run: String,
        suite: String,
        terca_version: String,
        seed: u64,
        concurrency: usize,
        baseline: String,
        /// Not all of the trials may be needed: those beyond the fewest repetitions wait for a round.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adaptive: Option<Adaptive>,
        trials: Vec<TrialHead>,
    },
    /// The run goes on after it was interrupted, by its user or by a crash: what was in flight is not any more.
    RunResumed {
        terca_version: String,
        concurrency: usize,
    },
    /// One more repetition is wanted, of these trials.
    RoundStarted {
        repetition: u32,
        /// The number of comparisons that ask for it.
        undecided: usize,
        trials: Vec<u32>,
    },
    TrialStarted {
        trial: u32,
    },
    PhaseStarted {
        trial: u32,
        phase: Phase,
    },
    /// The agent's present doing. Shown, never journaled: it changes no result.
    Progress {
        trial: u32,
        doing: String,
        usage: Usage,
    },
    TrialFinished {
        trial: u32,
        report: Box<TrialReport>,
    },
    /// A trial ended in an error and is tried again.
    AttemptFailed {
        trial: u32,
        report: Box<TrialReport>,
        wait_seconds: f64,
    },
    /// Every further trial of a variant would end in this error: they are not started.
    VariantStopped {
        environment: String,
        experiment: String,
        error: TrialError,
        /// The number of trials that are left out.
        trials: usize,
    },
    /// Trials were graded again, with the tests as they were then: all of them at once, so that a run never shows a
    /// grading that is half done.
    Regraded {
        grading: u32,
        trials: Vec<RegradedTrial>,
    },
    /// No further trial is started.
    Stopping {
        reason: StopReason,
    },
    RunFinished {
        status: RunStatus,
    },
}

impl EventKind {
    /// Returns whether it is journaled.
    pub fn is_lasting(&self) -> bool {
        !matches!(self, EventKind::Progress { .. })
    }
}

/// A trial that was graded again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegradedTrial {
    pub trial: u32,
    pub report: TrialReport,
}

/// The reason why a run ends before all its trials have run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// By a signal; the trials in flight are stopped.
    Interrupted,
    /// A trial did not pass; those in flight go on to their end.
    FailFast,
    /// The spending has reached the budget; trials in flight go on to their end.
    Budget,
}

impl StopReason {
    pub fn words(self) -> &'static str {
        match self {
            StopReason::Interrupted => "interrupted",
            StopReason::FailFast => "a trial did not pass (--fail-fast)",
            StopReason::Budget => "the budget is spent (--budget-usd)",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Running,
    Complete,
    Interrupted,
}

/// The facts of a trial that are known before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialHead {
    pub id: u32,
    pub eval: String,
    pub environment: String,
    pub experiment: String,
    pub repetition: u32,
    pub dir: Utf8PathBuf,
    pub agent: String,
    pub model: Option<String>,
}

impl TrialHead {
    pub fn of(trial: &TrialSpec) -> Self {
        let variant = &trial.case.variant;
        TrialHead {
            id: trial.id,
            eval: trial.case.eval.name.clone(),
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            repetition: trial.repetition,
            dir: trial.dir.clone(),
            agent: variant.agent.agent.profile().name.to_owned(),
            model: variant.model.clone(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Setup,
    Agent,
    Tests,
    Collect,
}

impl Phase {
    pub fn word(self) -> &'static str {
        match self {
            Phase::Setup => "setting up",
            Phase::Agent => "agent",
            Phase::Tests => "testing",
            Phase::Collect => "collecting",
        }
    }
}
