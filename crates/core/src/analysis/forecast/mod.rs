//! `terca plan`: what a run would cost and what it could show, before anything is spent.
//!
//! Costs, times and variances are those of earlier runs of the same cases where there are some; what is assumed
//! otherwise is said.

mod ablation;
mod detect;
mod expense;
mod precision;

use serde::{Deserialize, Serialize};

use crate::analysis::history::History;
pub use crate::analysis::history::Known;
use crate::run::event::TrialHead;

pub use ablation::AblationForecast;
pub use detect::Detect;
pub use expense::{Arm, Expense};
pub use precision::{Assumption, Precision, Variances};

/// Of the document that `terca plan --format json` writes.
pub const FORECAST_VERSION: u32 = 2;

/// The question to answer.
#[derive(Debug)]
pub struct Question<'a> {
    /// The suite's name.
    pub suite: &'a str,
    /// The name of the baseline.
    pub baseline: &'a str,
    /// The trials of the plan.
    pub plan: &'a [TrialHead],
    /// Trials at once.
    pub concurrency: usize,
    /// A difference that is to be seen.
    pub detect: Option<f64>,
}

/// The answer of `terca plan`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// The version of this document.
    pub version: u32,
    /// The suite's name.
    pub suite: String,
    /// The name of the baseline.
    pub baseline: String,
    /// The number of trials.
    pub trials: usize,
    /// The number of trials at a time.
    pub concurrency: usize,
    /// The facts from earlier runs.
    pub history: Known,
    /// The variants, each with what it takes.
    pub arms: Vec<Arm>,
    /// All of it together.
    pub expense: Expense,
    /// The differences that each comparison can see.
    pub precision: Vec<Precision>,
    /// The plans that would see the difference that was asked about.
    pub detect: Option<Detect>,
}

/// Answers a question about a plan from the history of its suite.
pub fn forecast(question: &Question<'_>, history: &History) -> Forecast {
    let arms = expense::arms(question, history);
    let precision = precision::all(question, history);
    Forecast {
        version: FORECAST_VERSION,
        suite: question.suite.to_owned(),
        baseline: question.baseline.to_owned(),
        trials: question.plan.len(),
        concurrency: question.concurrency,
        history: history.known,
        expense: Expense::total(&arms, question.concurrency),
        detect: question
            .detect
            .and_then(|difference| Detect::of(difference, &precision, &arms, question)),
        arms,
        precision,
    }
}

#[cfg(test)]
mod tests;
