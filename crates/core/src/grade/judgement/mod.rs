//! The question to a judge and its answer.
//!
//! The judge is asked with a [`prompt`], and its verdict is found with [`Opinion::find`].

mod opinion;
mod prompt;

use serde::{Deserialize, Serialize};

use super::verdict::NoVerdict;
use crate::agent::AgentChoice;
use crate::agent::access::Access;
use crate::transcript::Stats;

pub use opinion::{Opinion, Reason};
pub use prompt::{Brief, VERDICT_FILE, prompt};

/// A rubric, and the agent that judges by it.
#[derive(Debug, Clone)]
pub struct JudgeTest {
    /// The demands on the work, in the author's words.
    pub rubric: String,
    /// The agent that judges; `None` is the trial's own.
    pub agent: Option<AgentChoice>,
    /// The judge's model; `None` is the trial's own for the trial's own agent, else the agent's default.
    pub model: Option<String>,
    /// The judge's own settings.
    pub config: Option<serde_json::Value>,
    /// Values of variables in the settings, which must not be written down.
    pub secrets: Vec<String>,
    /// A score of at least this counts as 1.
    pub pass_score: Option<f64>,
}

/// The answer of a judge.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// `None` when the judge was still at work when its time was over.
    pub opinion: Option<Result<Opinion, NoVerdict>>,
    /// The judge.
    pub by: JudgedBy,
}

/// The judge, and its cost, which is in no figure of the trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgedBy {
    /// The name of the agent.
    pub agent: String,
    /// Its version, where it is known.
    pub agent_version: Option<String>,
    /// The model that was seen, else the one that was asked for.
    pub model: Option<String>,
    /// The names of its credentials, and the services that it was led to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Tokens, time and cost.
    pub stats: Stats,
    /// The folder of the judge's session, below the trial's folder.
    pub artifacts: String,
}

/// A judgement in `results.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgeRecord {
    /// The score that the judge gave, before `passScore`.
    pub score: f64,
    /// The judge's reasons, one for each criterion.
    pub reasons: Vec<Reason>,
    /// The judge.
    #[serde(flatten)]
    pub by: JudgedBy,
}

impl Judgement {
    /// Returns the record for `results.json`; `None` when there is no opinion.
    pub fn record(&self) -> Option<JudgeRecord> {
        let opinion = self.opinion.as_ref()?.as_ref().ok()?;
        Some(JudgeRecord {
            score: opinion.score,
            reasons: opinion.reasons.clone(),
            by: self.by.clone(),
        })
    }
}
