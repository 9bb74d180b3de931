//! The messages between a coordinator and its workers.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use terca_core::plan::fingerprint::CaseFingerprint;
use terca_core::run::event::{EventKind, TrialHead};
use terca_core::run::outcome::TrialReport;
use terca_core::run::run_file::{CaseSandbox, SettledSandboxes};
use terca_core::run::settings::RunSettings;

use crate::checkup::Findings;

/// A message to a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ToWorker {
    /// The run that the next trials are of.
    Open(Box<Order>),
    /// A trial to run.
    Run {
        /// The trial, as it is known on all machines.
        trial: Box<TrialHead>,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The agent is asked to end.
    Stop,
    /// Everything is ended at once.
    Kill,
    /// An answer is wanted, to see how long it takes.
    Ping,
    /// The findings on the machine are wanted, with these variables of the coordinator.
    Inspect(SentVariables),
}

/// Variables of the coordinator. They may be secrets, and are not shown.
#[derive(Clone, Serialize, Deserialize)]
pub struct SentVariables(pub BTreeMap<String, String>);

impl std::fmt::Debug for SentVariables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Everything that a worker needs of a run.
#[derive(Clone, Serialize, Deserialize)]
pub struct Order {
    /// The hash of the parcel with the suite.
    pub suite: String,
    /// The suite's directory, as the coordinator knows it. It is the place of the suite in the parcel.
    pub suite_dir: Utf8PathBuf,
    /// The settings of the run.
    pub settings: RunSettings,
    /// The variables of the coordinator that the suite and its agents use.
    pub variables: BTreeMap<String, String>,
    /// The fingerprints of the cases: the worker must come to the same.
    pub fingerprints: Vec<CaseFingerprint>,
    /// Makes the layers of `prepare` again, although they are in the node's cache.
    pub rebuild_layers: bool,
    /// The sandboxes that the run was started with, where it goes on.
    pub settled: SettledSandboxes,
}

/// Variables may be secrets.
impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Order")
            .field("suite", &self.suite)
            .field("suite_dir", &self.suite_dir)
            .finish_non_exhaustive()
    }
}

/// A message from a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum FromWorker {
    /// The first one.
    Hello(Box<Hello>),
    /// The suite is not on this node: it is to be sent.
    Wanted,
    /// Trials can be run.
    Opened(Opened),
    /// Trials cannot be run, for this reason.
    Refused {
        /// The reason.
        reason: String,
        /// The next step.
        help: Option<String>,
    },
    /// Something happened to the trial.
    Event(Box<EventKind>),
    /// The trial has ended. Its files came before, as data.
    Ended {
        /// The trial's id.
        trial: u32,
        /// The number of the attempt.
        attempt: u32,
        /// The result.
        report: Box<TrialReport>,
    },
    /// The worker is there.
    Beat,
    /// The answer to [`ToWorker::Ping`].
    Pong,
    /// The answer to [`ToWorker::Inspect`].
    Inspected(Box<Findings>),
}

/// The facts about a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hello {
    /// The version of Terca.
    pub version: String,
    /// The name of the node.
    pub node: String,
    /// The time there.
    pub now: Timestamp,
}

/// The facts about a run on a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The sandbox of each case.
    pub sandboxes: Vec<CaseSandbox>,
    /// The networks of contained agents, in words.
    pub networks: Vec<String>,
    /// The reason why agents have no sandbox, although nobody wanted that.
    pub not_contained: Option<String>,
}
