//! What became of a trial.
//!
//! A trial that was judged has a score. A trial that could not be judged has an error kind that says who must
//! act. The two never mix: trouble with the machine or the provider is not a failure of the agent.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::delivery::Delivery;
use crate::scorecard::Scorecard;
use crate::transcript::Usage;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Passed,
    Partial,
    Failed,
    Error,
    Interrupted,
    Pending,
}

impl Status {
    /// From the score of a trial that was judged.
    pub fn of_score(score: f64) -> Self {
        if score >= 1.0 {
            Status::Passed
        } else if score > 0.0 {
            Status::Partial
        } else {
            Status::Failed
        }
    }

    /// Whether the agent's work was judged.
    pub fn is_judged(self) -> bool {
        matches!(self, Status::Passed | Status::Partial | Status::Failed)
    }

    pub fn word(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Partial => "partial",
            Status::Failed => "failed",
            Status::Error => "error",
            Status::Interrupted => "interrupted",
            Status::Pending => "pending",
        }
    }
}

/// Why a trial could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ErrorKind {
    /// An action or the `command` before the agent failed.
    Setup,
    /// The agent's program is not installed.
    AgentMissing,
    /// Not signed in, or the key was refused.
    Auth,
    RateLimit,
    /// The model's service failed or could not be reached.
    ModelApi,
    /// An MCP server did not connect.
    Mcp,
    /// The agent crashed before doing anything, or its session has no proper end.
    Agent,
    /// The machine refused, or Terca itself is at fault.
    Internal,
}

impl ErrorKind {
    pub fn word(self) -> &'static str {
        match self {
            ErrorKind::Setup => "setup",
            ErrorKind::AgentMissing => "agentMissing",
            ErrorKind::Auth => "auth",
            ErrorKind::RateLimit => "rateLimit",
            ErrorKind::ModelApi => "modelApi",
            ErrorKind::Mcp => "mcp",
            ErrorKind::Agent => "agent",
            ErrorKind::Internal => "internal",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialError {
    pub kind: ErrorKind,
    pub message: String,
}

impl TrialError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        TrialError {
            kind,
            message: message.into(),
        }
    }
}

/// The figures of a trial. What the agent did not report is `null`, never 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    #[serde(flatten)]
    pub usage: Usage,
    /// How long the agent ran, by Terca's own clock.
    pub duration_seconds: Option<f64>,
}

/// How long each part took, in seconds. A part that was not reached is `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Phases {
    pub setup: Option<f64>,
    pub agent: Option<f64>,
    pub tests: Option<f64>,
}

/// An attempt that ended in an error and was followed by another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    pub error: Option<TrialError>,
    /// What it used: paid for, though in no figure of the trial.
    pub stats: Stats,
    pub started_at: Option<Timestamp>,
    pub duration_seconds: f64,
}

impl Attempt {
    pub fn of(report: &TrialReport) -> Self {
        Attempt {
            error: report.error.clone(),
            stats: report.stats.clone(),
            started_at: report.started_at,
            duration_seconds: report.duration_seconds,
        }
    }
}

/// Everything a finished trial has to say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialReport {
    pub agent_version: Option<String>,
    pub status: Status,
    pub score: Option<f64>,
    pub tests: Scorecard,
    pub stats: Stats,
    pub exit_code: Option<i32>,
    pub timed_out: bool,
    pub attempts: u32,
    /// Which grading this is: the tests may have been run again since.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub grading: u32,
    pub delivery: Delivery,
    pub started_at: Option<Timestamp>,
    pub duration_seconds: f64,
    pub phases: Phases,
    /// Remarks that change no verdict: a loop that was stopped, a limit that was reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub error: Option<TrialError>,
}

fn first() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_first(grading: &u32) -> bool {
    *grading == first()
}

impl TrialReport {
    /// A trial that has not run.
    pub fn pending() -> Self {
        TrialReport {
            agent_version: None,
            status: Status::Pending,
            score: None,
            tests: Scorecard::default(),
            stats: Stats::default(),
            exit_code: None,
            timed_out: false,
            attempts: 0,
            grading: 1,
            delivery: Delivery::default(),
            started_at: None,
            duration_seconds: 0.0,
            phases: Phases::default(),
            notes: Vec::new(),
            error: None,
        }
    }
}
