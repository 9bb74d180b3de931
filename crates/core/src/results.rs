//! `results.json`: the document that other programs read.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{RunStatus, TrialHead};
use crate::outcome::TrialReport;
use crate::state::RunState;
use crate::summary::{Summary, summarise};

pub const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    pub schema_version: u32,
    pub terca_version: String,
    pub run: String,
    pub suite: String,
    pub status: RunStatus,
    pub seed: u64,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub trials: Vec<TrialResult>,
    pub summary: Summary,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    #[serde(flatten)]
    pub head: TrialHead,
    #[serde(flatten)]
    pub report: TrialReport,
}

impl Results {
    pub fn of(state: &RunState) -> Self {
        Results {
            schema_version: SCHEMA_VERSION,
            terca_version: state.terca_version.clone(),
            run: state.run.clone(),
            suite: state.suite.clone(),
            status: state.status,
            seed: state.seed,
            started_at: state.started_at,
            finished_at: state.finished_at,
            trials: state
                .trials
                .iter()
                .map(|trial| TrialResult { head: trial.head.clone(), report: trial.report.clone() })
                .collect(),
            summary: summarise(state),
        }
    }
}
