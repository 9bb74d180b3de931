//! The stages of a trial, as types. Each one is made from the one before it, which it consumes.
//!
//! ```text
//! setup ─► Prepared ─► agent ─► AgentRun ─► grading ─► Graded ─► collect ─► TrialReport
//! ```

use terca_core::agent::access::Access;
use terca_core::agent::delivery::Installed;
use terca_core::grade::grades::Scorecard;
use terca_core::trial_error::TrialError;

use super::session::{AgentEnd, AgentSession};
use super::stage_error::StageError;
use crate::workspace::changes::{Changes, Snapshot};

/// The parts of the report that are known once the agent can start.
#[derive(Debug)]
pub(super) struct Delivered {
    pub(super) rules: Vec<Installed>,
    pub(super) skills: Vec<Installed>,
    pub(super) agent_version: Option<String>,
    pub(super) access: Access,
}

/// A workspace that is ready, and an agent that is ready to start in it.
pub(super) struct Prepared {
    pub(super) delivered: Delivered,
    pub(super) session: AgentSession,
    /// The workspace as the agent finds it.
    pub(super) snapshot: Snapshot,
}

/// An agent's finished run.
#[derive(Debug)]
pub(super) struct AgentRun {
    pub(super) delivered: Delivered,
    pub(super) end: AgentEnd,
    pub(super) work: LeftWork,
}

/// The work that an agent left.
#[derive(Debug)]
pub(super) struct LeftWork {
    pub(super) changes: Changes,
    /// It was the eval's own solution.
    pub(super) is_reference: bool,
    /// The fault of the model's service in a session that the time limit ended.
    pub(super) service_fault: Option<TrialError>,
    /// The reason why the work fails every test: the agent changed what it had no business with, or no test can run on
    /// what it left.
    pub(super) breach: Option<String>,
    /// The workspace can be kept: it is not too large, and no mount.
    pub(super) is_keepable: bool,
    /// Remarks that change no verdict.
    pub(super) notes: Vec<String>,
}

/// An agent's run whose work has been graded.
#[derive(Debug)]
pub(super) struct Graded {
    pub(super) agent: AgentRun,
    pub(super) grades: Grades,
}

/// The worth of an agent's work.
#[derive(Debug)]
pub(super) struct Grades {
    pub(super) tests: Scorecard,
    pub(super) score: f64,
}

/// A trial that did not go through all stages: the last thing that it came to, and the reason.
#[derive(Debug)]
pub(super) enum Stopped {
    /// There was no agent to start, or no workspace for it.
    Unprepared(StageError),
    /// The agent could not be run to its end.
    Unfinished(Box<Delivered>, StageError),
    /// The agent's work cannot be graded, or could not be.
    Ungraded(Box<AgentRun>, Ungraded),
}

/// Work without a score: the reason, and the grades of the tests that could tell.
#[derive(Debug)]
pub(super) struct Ungraded {
    pub(super) error: StageError,
    pub(super) tests: Scorecard,
}

impl<E: Into<StageError>> From<E> for Ungraded {
    fn from(error: E) -> Self {
        Ungraded {
            error: error.into(),
            tests: Scorecard::default(),
        }
    }
}
