//! The interval of a difference of pass rates, stratified: Miettinen and Nurminen's score interval.
//!
//! It holds all differences δ that the data do not contradict: those no further from the difference found than z times the
//! standard error that there would be if δ were true. Unlike the textbook's interval it has a width when all trials
//! of an arm passed.

use std::f64::consts::PI;

use super::special::{last, normal_quantile};
use super::stratum::{self, TwoArms};
use super::{CannotTell, Interval};

/// Returns the interval that holds the true difference in `level` of all cases.
///
/// Of scores between 0 and 1, each mean is taken for a pass rate. No scores vary more than passes and failures do, so it is
/// never too narrow.
pub fn interval(strata: &[impl TwoArms], level: f64) -> Result<Interval, CannotTell> {
    let found = stratum::difference(strata)?;
    let z = normal_quantile(f64::midpoint(1.0, level));
    let is_possible = |delta: f64| (found - delta).abs() <= z * variance(strata, delta).sqrt();
    let end = |end: f64| match is_possible(end) {
        true => end,
        false => last(found, end, is_possible),
    };
    Ok(Interval {
        low: end(-1.0),
        high: end(1.0),
    })
}

/// The variance of the weighted difference if the true one were `delta`.
fn variance(strata: &[impl TwoArms], delta: f64) -> f64 {
    let of_one = |weight: f64, arms| weight * weight * variance_of_one(arms, delta);
    strata
        .iter()
        .map(|stratum| of_one(stratum.weight(), stratum.arms()))
        .sum()
}

fn variance_of_one(arms: [(f64, f64); 2], delta: f64) -> f64 {
    let [(n, _), (m, _)] = arms;
    let without = restricted_rate(arms, delta);
    let with = (without + delta).clamp(0.0, 1.0);
    let total = n + m;
    (with * (1.0 - with) / n + without * (1.0 - without) / m) * total / (total - 1.0)
}

/// The most likely rate of the baseline if the arm's is `delta` above it: the root of a cubic, in closed form.
fn restricted_rate([(n, a), (m, b)]: [(f64, f64); 2], delta: f64) -> f64 {
    let total = n + m;
    let passed = a + b;
    let l3 = total;
    let l2 = (n + 2.0 * m) * delta - total - passed;
    let l1 = (m * delta - total - 2.0 * b) * delta + passed;
    let l0 = b * delta * (1.0 - delta);
    let third = l2 / (3.0 * l3);
    let q = third.powi(3) - l1 * l2 / (6.0 * l3 * l3) + l0 / (2.0 * l3);
    let u = (third * third - l1 / (3.0 * l3))
        .max(0.0)
        .sqrt()
        .copysign(q);
    let angle = if u == 0.0 {
        0.0
    } else {
        (q / u.powi(3)).clamp(-1.0, 1.0)
    };
    let rate = 2.0 * u * ((PI + angle.acos()) / 3.0).cos() - third;
    // Both rates are rates.
    rate.clamp((-delta).max(0.0), (1.0 - delta).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::permutation::Values;
    use crate::stats::stratum::{Count, Stratum};

    fn likelihood(arm: Count, baseline: Count, without: f64, delta: f64) -> f64 {
        let of = |count: Count, rate: f64| {
            let (passed, failed) = (count.passed as f64, (count.trials - count.passed) as f64);
            let part = |times: f64, rate: f64| if times == 0.0 { 0.0 } else { times * rate.ln() };
            part(passed, rate) + part(failed, 1.0 - rate)
        };
        of(arm, without + delta) + of(baseline, without)
    }

    /// No rate on a fine grid is more likely than the root.
    #[test]
    fn the_root_is_the_most_likely_rate() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..300 {
            let mut count = || {
                let trials = random.usize(1..=12);
                Count {
                    passed: random.usize(0..=trials),
                    trials,
                }
            };
            let (arm, baseline) = (count(), count());
            let delta = random.f64() * 1.8 - 0.9;
            let stratum = Stratum {
                arm,
                baseline,
                share: 1,
            };
            let root = restricted_rate(stratum.arms(), delta);
            let best = likelihood(arm, baseline, root, delta);
            let (low, high) = ((-delta).max(0.0), (1.0 - delta).min(1.0));
            for step in 1..1000 {
                let rate = low + (high - low) * f64::from(step) / 1000.0;
                assert!(
                    likelihood(arm, baseline, rate, delta) <= best + 1e-9,
                    "{arm:?} {baseline:?} {delta}: {root} {rate}"
                );
            }
        }
    }

    #[test]
    fn scores_of_0_and_1_are_counts() {
        let strata = Stratum::equal(&[((3, 3), (1, 4)), ((2, 5), (0, 2))]);
        let of = |count: Count| -> Vec<f64> {
            (0..count.trials)
                .map(|trial| if trial < count.passed { 1.0 } else { 0.0 })
                .collect()
        };
        let values: Vec<Values> = strata
            .iter()
            .map(|stratum| Values {
                arm: of(stratum.arm),
                baseline: of(stratum.baseline),
                share: stratum.share,
            })
            .collect();
        let (one, other) = (
            interval(&strata, 0.95).unwrap(),
            interval(&values, 0.95).unwrap(),
        );
        assert!((one.low - other.low).abs() < 1e-12 && (one.high - other.high).abs() < 1e-12);
    }

    #[test]
    fn arms_can_be_swapped() {
        let strata = Stratum::equal(&[((3, 3), (1, 4)), ((2, 5), (0, 2)), ((4, 4), (3, 4))]);
        let swapped: Vec<Stratum> = strata
            .iter()
            .map(|stratum| Stratum {
                arm: stratum.baseline,
                baseline: stratum.arm,
                ..*stratum
            })
            .collect();
        let (one, other) = (
            interval(&strata, 0.95).unwrap(),
            interval(&swapped, 0.95).unwrap(),
        );
        assert!((one.low + other.high).abs() < 1e-12 && (one.high + other.low).abs() < 1e-12);
    }
}
