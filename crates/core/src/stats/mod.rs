//! Statistics for a handful of trials: estimates, intervals and tests.
//!
//! Values come in and values go out, without a seed: the same data give the same answer.
//!
//! A question that the data cannot answer gives a [`CannotTell`] that says why, never a number that looks like an answer.
//! `docs/explanations/statistics.md` has the conventions, the published values that these are tested against, and how
//! often the intervals and verdicts are right in simulations.
//!
//! Why these:
//!
//! - **Two questions.** On these evals only the trials are random ([`stratified_exact`], [`miettinen_nurminen`]). Beyond them the
//!   evals are a sample ([`beyond`]), which takes at least five of them.
//! - **Stratified by eval.** Evals differ more from each other than arms do; a difference within an eval takes that out.
//! - **An exact test** needs no distribution, which a dozen trials could not show anyway.
//! - **An interval and a p-value, both**, before something is called a difference (`summary::comparison`): a p-value has no size.
//! - **Holm**, since a suite with four experiments asks three questions: uniformly better than Bonferroni, and as
//!   simple to explain.
//! - **Equivalence needs an interval within a margin.** "Not significant" is not "no difference".
//! - **An e-value for runs that look after every round** ([`sequential`]), because a p-value that is looked at until
//!   it pleases is not one.
//!
//! Rejected:
//!
//! - *All trials in one table (two proportions, χ²).* Evals that differ would count as luck.
//! - *The bootstrap over evals.* 12 to 15 % false verdicts on suites of four to eight evals.
//! - *Drawn sign flips.* Near 0.05 the seed decides.
//! - *A mixed-effects or Bayesian model.* Better in theory with hundreds of evals; here its answer would be its
//!   prior, and no maintainer could check it by hand.
//! - *Counting errors as failures.* A provider's bad hour would then be a finding. They are in no rate, are shown for
//!   each arm, and compared ([`fisher`]).
//! - *A statistics library.* What is needed of special functions is one file that is tested against published values
//!   ([`special`]).

pub mod beyond;
pub mod fisher;
pub mod holm;
pub mod miettinen_nurminen;
pub mod permutation;
pub mod power;
pub mod reliability;
pub mod sample;
pub mod sequential;
pub mod special;
pub mod stratified_exact;
pub mod stratum;
pub mod student;
pub mod welch;
pub mod wilson;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// All intervals are for 95 %, and a test that gives less than this has found something.
pub const ALPHA: f64 = 0.05;
/// The chance that a plan should have to find the difference it is made for.
pub const POWER: f64 = 0.8;

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// An interval around its centre.
    pub fn around(centre: f64, half_width: f64) -> Self {
        Interval {
            low: centre - half_width,
            high: centre + half_width,
        }
    }

    /// Returns whether the value is in it.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns whether all of it is strictly between the two.
    pub fn is_within(self, low: f64, high: f64) -> bool {
        low < self.low && self.high < high
    }

    /// The part of it that is possible.
    #[must_use]
    pub fn clamp(self, low: f64, high: f64) -> Self {
        self.map(|end| end.clamp(low, high))
    }

    /// Applies an increasing function to both ends.
    #[must_use]
    pub fn map(self, increasing: impl Fn(f64) -> f64) -> Self {
        Interval {
            low: increasing(self.low),
            high: increasing(self.high),
        }
    }
}

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
