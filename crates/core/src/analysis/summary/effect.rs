//! The effect of an arm on one figure: on these evals, and beyond them.

use serde::{Deserialize, Serialize};

use super::figures::Read;
use super::pairs::{self, Graded, Pair};
use crate::stats::permutation::Values;
use crate::stats::sample::mean;
use crate::stats::stratum::{Stratum, TwoArms};
use crate::stats::{
    ALPHA, CannotTell, Interval, beyond, miettinen_nurminen, permutation, stratified_exact,
    stratum, welch,
};

/// The interval that decides whether a difference is smaller than the margin: two one-sided tests.
const LEVEL_OF_EQUIVALENCE: f64 = 1.0 - 2.0 * ALPHA;
const LEVEL: f64 = 1.0 - ALPHA;
/// A bound that keeps a ratio of two enormous figures finite, so that it can be written down.
const WIDEST: f64 = 700.0;

/// The effect of an arm on one figure.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// Rates and scores: the experiment minus the baseline. Tokens, cost and time: the experiment over the baseline.
    pub value: Option<f64>,
    /// The 95 % interval on these evals.
    pub interval: Option<Interval>,
    /// The 90 % interval on these evals, which decides on equivalence. Rates and scores have one.
    pub interval90: Option<Interval>,
    /// The 95 % interval over other evals of the kind, from five evals on.
    pub beyond: Option<Interval>,
    /// The p-value.
    pub p: Option<f64>,
    /// By Holm's method, for all comparisons of its kind.
    pub p_adjusted: Option<f64>,
    /// The number of evals it is from.
    pub evals: usize,
    /// Tokens, cost and time: the ratio of the arithmetic means. That is what the bill shows.
    pub bill: Option<f64>,
    /// Trials whose figure is 0. They are in the bill, and in no other figure of this effect.
    #[serde(default)]
    pub zeros: usize,
    /// Trials that did not report the figure.
    #[serde(default)]
    pub unknown: usize,
    /// The reason why something of it is missing.
    pub cannot_tell: Option<CannotTell>,
}

impl Effect {
    pub(super) fn on_pass_rate(pairs: &[Pair<'_>]) -> Self {
        let differences: Vec<f64> = pairs.iter().map(Pair::difference).collect();
        Effect::of_counts(&pairs::counts(pairs), &differences)
    }

    /// Returns the effect on the pass rate, from the counts of each stratum and the difference of each eval.
    pub fn of_counts(strata: &[Stratum], differences: &[f64]) -> Self {
        let interval = miettinen_nurminen::interval(strata, LEVEL);
        Effect {
            value: stratum::difference(strata).ok(),
            interval90: miettinen_nurminen::interval(strata, LEVEL_OF_EQUIVALENCE).ok(),
            ..Effect::of(interval, stratified_exact::p_value(strata), differences).clamped()
        }
    }

    /// No difference of rates or scores is larger than 1, however far apart the evals are.
    fn clamped(self) -> Self {
        let clamp = |interval: Interval| interval.clamp(-1.0, 1.0);
        Effect {
            interval: self.interval.map(clamp),
            beyond: self.beyond.map(clamp),
            ..self
        }
    }

    pub(super) fn on_score(pairs: &[Pair<'_>]) -> Self {
        let scores = pairs::scores(pairs);
        if scores.is_all_or_nothing() {
            return Effect::on_pass_rate(pairs);
        }
        let interval = |level| match welch::interval(&scores.strata, level) {
            // Trials that all end alike are no proof that all will.
            Err(CannotTell::NoVariation | CannotTell::OneEval) => {
                miettinen_nurminen::interval(&scores.strata, level)
            }
            other => other,
        };
        Effect {
            value: stratum::difference(&scores.strata).ok(),
            interval90: interval(LEVEL_OF_EQUIVALENCE).ok(),
            ..Effect::of(
                interval(LEVEL),
                permutation::p_value(&scores.strata),
                &scores.differences,
            )
            .clamped()
        }
    }

    /// Tokens, cost or time: a ratio of geometric means. Without a test there is no p-value, and the interval alone tells.
    pub(super) fn on(read: Read, pairs: &[Pair<'_>], is_tested: bool) -> Self {
        let (mut zeros, mut unknown) = (0, 0);
        for trial in pairs.iter().flat_map(Pair::judged) {
            let figure = read(&trial.stats);
            zeros += usize::from(figure.is_some_and(|figure| figure <= 0.0));
            unknown += usize::from(figure.is_none());
        }
        let all = Graded::of(pairs, |trial| read(&trial.stats));
        let bill = |values: fn(&Values) -> &Vec<f64>| -> f64 {
            let weighted =
                |stratum: &Values| mean(values(stratum)).unwrap_or(0.0) * stratum.weight();
            all.strata.iter().map(weighted).sum()
        };
        let (arm, baseline) = (bill(|values| &values.arm), bill(|values| &values.baseline));
        let Graded {
            strata,
            differences,
        } = Graded::of(pairs, |trial| {
            let positive = read(&trial.stats).filter(|figure| *figure > 0.0);
            positive.map(f64::ln)
        });
        let interval = welch::interval(&strata, LEVEL);
        let p = match is_tested {
            true => permutation::p_value(&strata),
            false => interval.map(|_| 1.0),
        };
        let found = Effect::of(interval, p, &differences);
        let exp = |logarithm: f64| logarithm.clamp(-WIDEST, WIDEST).exp();
        Effect {
            value: stratum::difference(&strata).ok().map(exp),
            interval: found.interval.map(|interval| interval.map(exp)),
            beyond: found.beyond.map(|interval| interval.map(exp)),
            p: found.p.filter(|_| is_tested),
            p_adjusted: found.p.filter(|_| is_tested),
            bill: (baseline > 0.0).then(|| arm / baseline),
            zeros,
            unknown,
            cannot_tell: match strata.is_empty() {
                true if zeros > 0 => Some(CannotTell::NotPositive),
                true => Some(CannotTell::NotReported),
                false => found.cannot_tell,
            },
            ..found
        }
    }

    /// With another test's p-value.
    pub(super) fn with_p(self, p: f64) -> Self {
        Effect {
            p: Some(p),
            p_adjusted: Some(p),
            ..self
        }
    }

    fn of(
        interval: Result<Interval, CannotTell>,
        p: Result<f64, CannotTell>,
        differences: &[f64],
    ) -> Self {
        let beyond = interval.and_then(|on_these| beyond::interval(differences, on_these));
        Effect {
            interval: interval.ok(),
            beyond: beyond.ok(),
            p: p.ok(),
            p_adjusted: p.ok(),
            evals: differences.len(),
            cannot_tell: interval.err().or(p.err()),
            ..Effect::default()
        }
    }
}
