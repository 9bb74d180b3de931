//! The events of a run, as data. The journal, `events.jsonl`, is a list of these.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ablation::Ablation;
use crate::agent::control::CHEAT;
use crate::config::adaptive::Adaptive;
use crate::config::verdict::VerdictSettings;
use crate::plan::descriptions::Descriptions;
use crate::plan::{TrialSpec, VariantName, trial_folder};
use crate::run::outcome::TrialReport;
use crate::transcript::Usage;
use crate::trial_error::TrialError;

/// A numbered event: one line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The number of the event in the journal.
    pub seq: u64,
    /// The time of the event.
    pub at: Timestamp,
    /// The event itself.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum EventKind {
    /// The run begins, with all its trials.
    RunStarted(Box<RunStart>),
    /// The run goes on after it was interrupted, by its user or by a crash: what was in flight is not any more.
    RunResumed {
        /// The version of Terca.
        terca_version: String,
        /// The number of trials at a time.
        concurrency: usize,
    },
    /// One more repetition is wanted, of these trials.
    RoundStarted {
        /// The number of the repetition.
        repetition: u32,
        /// The number of comparisons that ask for it.
        undecided: usize,
        /// The ids of its trials.
        trials: Vec<u32>,
    },
    /// Steps of `prepare` are in the cache and will be used. Shown, never journaled: it changes no result.
    StepsFound {
        /// The number of cached steps.
        steps: usize,
        /// The age of the oldest of them.
        age_seconds: f64,
        /// The number of steps that are not in the cache.
        to_make: usize,
    },
    /// A trial has made a step of `prepare`. Shown, never journaled: it changes no result.
    StepMade {
        /// The trial's id.
        trial: u32,
        /// The eval that the step is for; `None` for the suite's.
        #[serde(skip_serializing_if = "Option::is_none")]
        eval: Option<String>,
        /// The time that it took.
        seconds: f64,
    },
    /// A trial is in flight.
    TrialStarted {
        /// The trial's id.
        trial: u32,
        /// The node of the worker that it runs on; `None` on this machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
    /// A trial in flight comes to another phase.
    PhaseStarted {
        /// The trial's id.
        trial: u32,
        /// The phase.
        phase: Phase,
    },
    /// The agent's present doing. Shown, never journaled: it changes no result.
    Progress {
        /// The trial's id.
        trial: u32,
        /// One line about it.
        doing: String,
        /// The usage so far.
        usage: Usage,
    },
    /// A trial has ended.
    TrialFinished {
        /// The trial's id.
        trial: u32,
        /// The result.
        report: Box<TrialReport>,
    },
    /// A trial ended in an error and is tried again.
    AttemptFailed {
        /// The trial's id.
        trial: u32,
        /// The result.
        report: Box<TrialReport>,
        /// The wait before the next attempt.
        wait_seconds: f64,
    },
    /// Every further trial of a variant would end in this error: they are not started.
    VariantStopped(StoppedVariant),
    /// Trials were graded again, with the tests as they were then: all of them at once, so that a run never shows a
    /// grading that is half done.
    Regraded {
        /// The number of the grading.
        grading: u32,
        /// The hash of the tests of each eval whose tests are not known to be the run's own.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        other_tests: BTreeMap<String, String>,
        /// The trials that were graded.
        trials: Vec<RegradedTrial>,
    },
    /// No further trial is started.
    Stopping {
        /// The reason.
        reason: StopReason,
    },
    /// The run has ended.
    RunFinished {
        /// The status it ended with.
        status: RunStatus,
    },
}

/// Everything that is known when a run begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStart {
    /// The run's name.
    pub run: String,
    /// The suite's name.
    pub suite: String,
    /// The version of Terca.
    pub terca_version: String,
    /// The seed of everything that is drawn.
    pub seed: u64,
    /// The number of trials at a time.
    pub concurrency: usize,
    /// The experiment that the others are compared with.
    pub baseline: String,
    /// The figure that experiments are compared by, and the smallest difference that matters.
    #[serde(flatten)]
    pub verdict: VerdictSettings,
    /// Not all of the trials may be needed: those beyond the fewest repetitions wait for a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<Adaptive>,
    /// The variants that differ from the baseline in nothing but their name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identical_to_baseline: Vec<VariantName>,
    /// The descriptions of evals, variants and tests.
    #[serde(default, skip_serializing_if = "Descriptions::is_empty")]
    pub descriptions: Descriptions,
    /// The run whose recorded answers take the place of models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<String>,
    /// The run whose failures are run again, where there is nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_in: Option<String>,
    /// The design of an ablation, whose rows are the experiments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ablation: Option<Arc<Ablation>>,
    /// The trials of the plan.
    pub trials: Vec<TrialHead>,
}

impl EventKind {
    /// Returns whether it is journaled.
    pub fn is_lasting(&self) -> bool {
        !matches!(
            self,
            EventKind::Progress { .. } | EventKind::StepsFound { .. } | EventKind::StepMade { .. }
        )
    }
}

/// A trial that was graded again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegradedTrial {
    /// The trial's id.
    pub trial: u32,
    /// The result.
    pub report: TrialReport,
}

/// A variant whose further trials were not started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoppedVariant {
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// The error that each of them would have met.
    pub error: TrialError,
    /// The number of trials that were left out.
    pub trials: usize,
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
    /// No worker is left, and none can be started.
    NoWorkers,
}

impl StopReason {
    /// Returns the reason in words.
    pub fn words(self) -> &'static str {
        match self {
            StopReason::Interrupted => "interrupted",
            StopReason::FailFast => "a trial did not pass (--fail-fast)",
            StopReason::Budget => "the budget is spent (--budget-usd)",
            StopReason::NoWorkers => "no worker is left",
        }
    }
}

/// The status of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// It goes on.
    #[default]
    Running,
    /// It came to its end.
    Complete,
    /// A signal or a crash ended it.
    Interrupted,
}

/// The facts of a trial that are known before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialHead {
    /// The number in the plan, the same on every machine.
    pub id: u32,
    /// The eval's name.
    pub eval: String,
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// The folder in the run.
    pub dir: Utf8PathBuf,
    /// The agent's name.
    pub agent: String,
    /// The model that is asked for.
    pub model: Option<String>,
}

impl TrialHead {
    /// Returns the folder that the trial's names make. In a run that somebody changed, `dir` may be another.
    pub fn folder(&self) -> Utf8PathBuf {
        trial_folder(
            &self.eval, &self.environment, &self.experiment, self.repetition,
        )
    }

    /// Returns whether it is a trial of the cheat, by its own name.
    pub fn is_cheat(&self) -> bool {
        self.agent == CHEAT && self.environment == CHEAT
    }

    /// Takes the facts from the plan.
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

/// A phase of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Making the workspace.
    Setup,
    /// The agent at work.
    Agent,
    /// The tests.
    Tests,
    /// Keeping what the trial left.
    Collect,
}

impl Phase {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Setup => "setting up",
            Phase::Agent => "agent",
            Phase::Tests => "testing",
            Phase::Collect => "collecting",
        }
    }
}
