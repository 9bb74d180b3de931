//! The reasons why the data at hand do not answer a question.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The reason why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "camelCase")]
pub enum CannotTell {
    /// There is no trial.
    #[error("no trial was judged")]
    NoTrials,
    /// No eval was judged in both arms.
    #[error("no eval was judged on both sides")]
    NoEvals,
    /// There is one eval only.
    #[error("one eval says nothing about other tasks")]
    OneEval,
    /// Fewer than five evals say nothing about others.
    #[error("there are too few evals to say anything about other tasks; five is the minimum")]
    TooFewEvals,
    /// There is one repetition only.
    #[error("with one repetition, luck and a difference between evals look the same")]
    OneRepetition,
    /// There are too few trials.
    #[error("there are too few trials to show even the largest difference")]
    TooFewTrials,
    /// All values are the same.
    #[error("the evals do not differ from each other")]
    NoVariation,
    /// Every trial passed in both arms.
    #[error("every trial passed on both sides: these evals are too easy to show a difference")]
    AllPassed,
    /// No trial passed in either arm.
    #[error("no trial passed on either side: these evals are too hard to show a difference")]
    AllFailed,
    /// Agents did not report it.
    #[error("it was not reported")]
    NotReported,
    /// A figure is zero, of which there is no ratio.
    #[error("a figure is zero, so there is no ratio")]
    NotPositive,
}
