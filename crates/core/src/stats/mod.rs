//! What a handful of trials can show: estimates, intervals and tests.
//!
//! Values come in and values go out; where chance is drawn, the seed is passed in. The unit of independence is the
//! eval: repetitions of one eval are not independent questions, so whatever speaks of several evals works on one
//! value for each of them.
//!
//! What the data cannot answer is a [`CannotTell`] that says why, never a number that looks like an answer.
//! `docs/explanations/statistics.md` has the conventions, the published values that these are tested against, and how
//! often the intervals and verdicts are right in simulations.

pub mod cannot_tell;
pub mod clustered;
pub mod fisher;
pub mod holm;
pub mod interval;
pub mod mcnemar;
pub mod newcombe;
pub mod paired;
pub mod power;
pub mod ratio;
pub mod reliability;
pub mod sample;
pub mod sequential;
pub mod sign_flip;
pub mod special;
pub mod student;
pub mod wilson;

pub use cannot_tell::CannotTell;
pub use interval::Interval;

/// All intervals are for 95 %, and a test that gives less than this has found something.
pub const ALPHA: f64 = 0.05;
/// How likely a plan should be to find the difference it is made for.
pub const POWER: f64 = 0.8;
