//! The outcome of a trial.
//!
//! A trial that was judged has a score. A trial that could not be judged has an error kind that says who must
//! act. The two never mix: trouble with the machine or the provider is not a failure of the agent.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::delivery::Delivery;
use crate::config::sandbox::ContainedBy;
use crate::config::suite::LimitsKeptBy;
use crate::grade::Grade;
use crate::grade::JudgedBy;
use crate::grade::grades::Scorecard;
use crate::text::json;
use crate::transcript::{Stats, Usage};
use crate::trial_error::TrialError;
use crate::wire::Wire;
use crate::wire::network::TrialNetwork;

/// The end of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A score of 1.
    Passed,
    /// A score between 0 and 1.
    Partial,
    /// A score of 0.
    Failed,
    /// Its eval has no tests: the agent had its turn, and nothing says how good its work is.
    Unverified,
    /// It could not be judged.
    Error,
    /// A signal stopped it.
    Interrupted,
    /// It has not run.
    #[default]
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

    /// Returns whether the agent's work was judged.
    pub fn is_judged(self) -> bool {
        matches!(self, Status::Passed | Status::Partial | Status::Failed)
    }

    /// Returns whether the agent had its turn, be its work judged or not.
    pub fn is_done(self) -> bool {
        self.is_judged() || self == Status::Unverified
    }

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Partial => "partial",
            Status::Failed => "failed",
            Status::Unverified => "unverified",
            Status::Error => "error",
            Status::Interrupted => "interrupted",
            Status::Pending => "pending",
        }
    }
}

/// The seconds of each part. A part that was not reached is `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Phases {
    /// Set-up.
    pub setup: Option<f64>,
    /// The agent.
    pub agent: Option<f64>,
    /// The tests.
    pub tests: Option<f64>,
}

/// An attempt that ended in an error and was followed by another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The reason why it could not be judged.
    pub error: Option<TrialError>,
    /// Its usage: paid for, though in no figure of the trial.
    pub stats: Stats,
    /// The node of the worker that it ran on; `None` on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran_on: Option<String>,
    /// The time at which it was started.
    pub started_at: Option<Timestamp>,
    /// The time of the whole trial.
    pub duration_seconds: f64,
}

impl Attempt {
    /// Takes from a report what is kept of an attempt.
    pub fn of(report: &TrialReport) -> Self {
        Attempt {
            error: report.error.clone(),
            stats: report.stats.clone(),
            ran_on: report.ran_on.clone(),
            started_at: report.started_at,
            duration_seconds: report.duration_seconds,
        }
    }
}

/// Everything a finished trial has to say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialReport {
    /// The version that the agent says it has.
    pub agent_version: Option<String>,
    /// The end of the trial.
    pub status: Status,
    /// The weighted mean of its tests.
    pub score: Option<f64>,
    /// The grades of its tests.
    #[serde(with = "json::map")]
    pub tests: Scorecard,
    /// The agent's usage in the last attempt.
    pub stats: Stats,
    /// The figures that the agent reports itself, where those of the gateway took their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Usage>,
    /// The agent's requests to models as the gateway saw them, where it was on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// The agent's exit status.
    pub exit_code: Option<i32>,
    /// The agent ran out of time; its work was judged all the same.
    pub timed_out: bool,
    /// The number of attempts.
    pub attempts: u32,
    /// The number of this grading: the tests may have been run again since.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub grading: u32,
    /// The files, servers and model that the agent was given.
    pub delivery: Delivery,
    /// The sandbox that its commands ran in, where it has run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contained_by: Option<ContainedBy>,
    /// The node of the worker that it ran on; `None` on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran_on: Option<String>,
    /// The hash of the image of its containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The ways in which its limits were kept, if it has limits of memory, processes or processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits_kept_by: Option<LimitsKeptBy>,
    /// The network of a contained agent, and the hosts that it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<TrialNetwork>,
    /// The time at which it was started.
    pub started_at: Option<Timestamp>,
    /// The time of the whole trial.
    pub duration_seconds: f64,
    /// The seconds of each part.
    pub phases: Phases,
    /// Remarks that change no verdict: a loop that was stopped, a limit that was reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The judges whose answers are in no grade. They were paid for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paid_judges: Vec<JudgedBy>,
    /// The reason why it could not be judged.
    pub error: Option<TrialError>,
    /// The hash of each file and directory that it left.
    #[serde(default, skip_serializing_if = "Evidence::is_empty")]
    pub evidence: Evidence,
}

/// Names in the folder of a trial → hashes of what is there. `artifacts` is listed by what is in it.
pub type Evidence = BTreeMap<String, String>;

/// No trial takes so many seconds or dollars.
const MOST: f64 = 1e9;

fn first() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_first(grading: &u32) -> bool {
    *grading == first()
}

impl TrialReport {
    /// Returns the tests that lost points. They explain a trial that did not pass.
    pub fn losses(&self) -> impl Iterator<Item = (&str, &Grade)> {
        let lost = self.tests.iter().filter(|(_, grade)| grade.score < 1.0);
        lost.map(|(test, grade)| (test.as_str(), grade))
    }

    /// Returns whether the agent was started. Of a trial that was not judged, the agent's time says so.
    pub fn came_to_its_agent(&self) -> bool {
        self.status.is_done() || self.phases.agent.is_some()
    }

    /// Returns whether its figures can be those of a trial: shares are shares, and no time or cost is below zero.
    pub fn has_possible_figures(&self) -> bool {
        let figures = [
            self.stats.usage.cost_usd,
            self.reported.and_then(|reported| reported.cost_usd),
            self.wire.as_ref().and_then(|wire| wire.cost_usd),
            self.stats.duration_seconds,
            Some(self.duration_seconds),
        ];
        let mut figures = figures.into_iter().flatten();
        let is_share = |score: f64| (0.0..=1.0).contains(&score);
        figures.all(|figure| (0.0..=MOST).contains(&figure)) && self.score.is_none_or(is_share)
    }

    /// A trial that has not run.
    pub fn pending() -> Self {
        TrialReport {
            grading: first(),
            ..TrialReport::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_tests_survives_json() {
        let grade = |score| Grade {
            score,
            ..Grade::default()
        };
        let report = TrialReport {
            tests: [("z", 1.0), ("b", 0.5), ("a", 0.0)]
                .map(|(test, score)| (test.to_owned(), grade(score)))
                .into(),
            ..TrialReport::pending()
        };
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<TrialReport>(&text).unwrap(), report);
        assert_eq!(report.losses().next().unwrap().0, "b");
    }
}
