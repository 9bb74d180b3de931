//! Statistics for a handful of trials: estimates, intervals and tests.
//!
//! Values come in and values go out; where chance is drawn, the seed is passed in. The unit of independence is the
//! eval: repetitions of one eval are not independent questions, so every statement about several evals works on one
//! value for each of them.
//!
//! A question that the data cannot answer gives a [`CannotTell`] that says why, never a number that looks like an answer.
//! `docs/explanations/statistics.md` has the conventions, the published values that these are tested against, and how
//! often the intervals and verdicts are right in simulations.
//!
//! Why these:
//!
//! - **Paired by eval.** Evals differ more from each other than arms do; a difference within an eval takes that out.
//! - **A permutation test** ([`sign_flip`]) needs no distribution, which five evals could not show anyway, and is
//!   exact where it is needed most: with few evals. Its price is honest, too: fewer than six cannot be significant,
//!   with any result.
//! - **An interval and a p-value, both**, before something is called a difference (`summary::verdict`): t over a few
//!   evals that change alike has no width; a p-value has no size.
//! - **Holm**, since a suite with four experiments asks three questions: uniformly better than Bonferroni, and as
//!   simple to explain.
//! - **Equivalence needs an interval within a margin.** "Not significant" is not "no difference".
//! - **An e-value for runs that look after every round** ([`sequential`]), because a p-value that is looked at until
//!   it pleases is not one.
//!
//! Rejected:
//!
//! - *All trials in one table (two proportions, χ²).* Ten repetitions of three evals are not thirty questions: it
//!   finds differences where there are none.
//! - *The bootstrap over evals.* Too narrow with ten evals or fewer, which is what suites have.
//! - *A mixed-effects or Bayesian model.* Better in theory with hundreds of evals; here its answer would be its
//!   prior, and no maintainer could check it by hand.
//! - *Counting errors as failures.* A provider's bad hour would then be a finding. They are in no rate, are shown for
//!   each arm, and compared ([`fisher`]).
//! - *A statistics library.* What is needed of special functions is one file that is tested against published values
//!   ([`special`]).

pub mod advice;
pub mod beyond;
pub mod cannot_tell;
pub mod fisher;
pub mod holm;
pub mod interval;
pub mod mcnemar;
pub mod miettinen_nurminen;
pub mod newcombe;
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

pub use cannot_tell::CannotTell;
pub use interval::Interval;

/// All intervals are for 95 %, and a test that gives less than this has found something.
pub const ALPHA: f64 = 0.05;
/// The chance that a plan should have to find the difference it is made for.
pub const POWER: f64 = 0.8;
