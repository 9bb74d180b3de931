//! The grades of a trial's tests: a map in JSON, but in the order in which the eval lists them.

use serde::{Deserialize, Serialize};

use super::failure_line::told;
use super::judgement::JudgeRecord;
use super::test_report::Cases;
use super::verdict::with_line;
use crate::text::mask::Mask;

/// The score of one test, and the reason.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grade {
    /// From 0 to 1.
    pub score: f64,
    /// Its share in the score of the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The reason, in one line.
    pub message: String,
    /// The time that the test took.
    pub duration_seconds: f64,
    /// The hidden files that were changed or removed while the test ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests_touched: Vec<String>,
    /// For a `judge`: who judged, why, and at what cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeRecord>,
    /// The lines of the failed assertion in the output of a command that lost points, where the runner is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assertion: Vec<String>,
    /// The last lines of the output of a command that lost points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_end: Vec<String>,
    /// For a command with a `report`: the cases of that report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Cases>,
}

impl Grade {
    pub(super) fn scored(score: f64, message: impl Into<String>) -> Self {
        Grade {
            score,
            message: message.into(),
            ..Grade::default()
        }
    }

    pub(super) fn pass(message: impl Into<String>) -> Self {
        Grade::scored(1.0, message)
    }

    /// A verdict of 0, for this reason.
    pub fn fail(message: impl Into<String>) -> Self {
        Grade::scored(0.0, message)
    }

    /// A verdict of 0 for a command that printed this.
    pub(super) fn fail_with_output(reason: &str, output: &str, mask: &Mask) -> Self {
        let told = told(&mask.masked(output));
        Grade {
            message: with_line(reason, told.line),
            assertion: told.assertion,
            output_end: told.end,
            ..Grade::default()
        }
    }
}

/// The grades of a trial by test, in the order of the eval.
pub type Scorecard = Vec<(String, Grade)>;
