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
//! - **An interval and a p-value, both**, before something is called a difference (`summary::verdict`): a p-value has no size.
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
