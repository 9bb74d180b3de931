//! The reasons why the data at hand do not answer a question.

use serde::{Deserialize, Serialize};
use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "camelCase")]
pub enum CannotTell {
    #[error("no trial was judged")]
    NoTrials,
    #[error("no eval was judged in both arms")]
    NoEvals,
    #[error("one eval alone says nothing about others")]
    OneEval,
    /// The smallest p-value that so many evals can give is too large.
    #[error("so few evals cannot show a difference, whatever it is")]
    TooFewEvals,
    #[error(
        "with one repetition, the luck of a trial cannot be told from a difference between evals"
    )]
    OneRepetition,
    #[error("there are fewer trials than were asked about")]
    TooFewTrials,
    #[error("the evals do not vary at all")]
    NoVariation,
    #[error("every trial passed in both arms: these evals are too easy to show a difference")]
    AllPassed,
    #[error("no trial passed in either arm: these evals are too hard to show a difference")]
    AllFailed,
    #[error("it was not reported")]
    NotReported,
    #[error("a figure is zero, and a ratio to zero says nothing")]
    NotPositive,
    #[error("repetitions alone cannot do it, since the evals differ too much among themselves")]
    OutOfReach,
}
