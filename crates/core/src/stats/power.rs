//! The evals and repetitions that it takes to see a difference, and the difference that a plan can see.
//!
//! The variance of one eval's difference has two parts: ω², by which the evals' true effects differ, and the luck of
//! the trials, which falls with the number of repetitions. More evals make both small, more repetitions the second.

use super::special::{normal_quantile, student_quantile};
use super::stratum::{Count, Stratum, check};
use super::{ALPHA, CannotTell, POWER, sample};

/// The number of evals from which ω² is taken as they show it.
const ENOUGH_EVALS: usize = 20;
/// The least ω² of fewer evals: true effects within 20 points of their mean.
pub const LEAST_BETWEEN: f64 = 0.2 * 0.2 / 3.0;

/// Returns ω² as the differences of evals show it beside the luck of their trials. A few evals that agree are no proof that
/// all do: then it is assumed, which the second value tells.
pub fn between(differences: &[f64], luck: f64) -> (f64, bool) {
    let shown = sample::variance(differences).map_or(0.0, |all| (all - luck).max(0.0));
    let is_assumed = differences.len() < ENOUGH_EVALS && shown < LEAST_BETWEEN;
    (if is_assumed { LEAST_BETWEEN } else { shown }, is_assumed)
}

/// Returns how much one trial varies.
///
/// Half a trial that passed and half a trial that failed are added, because an arm in which all trials passed is not
/// certain to pass.
pub fn luck_of_trial(count: Count) -> f64 {
    let rate = (count.passed as f64 + 0.5) / (count.trials as f64 + 1.0);
    rate * (1.0 - rate)
}

/// Returns how much one trial in each arm of a stratum varies, as the mean over the strata.
pub fn luck(strata: &[Stratum]) -> Result<f64, CannotTell> {
    check(strata)?;
    let of_both = |stratum: &Stratum| luck_of_trial(stratum.arm) + luck_of_trial(stratum.baseline);
    Ok(strata.iter().map(of_both).sum::<f64>() / strata.len() as f64)
}

/// The variance of a pass rate that comes from the luck of its trials: σ²/K. One trial shows none of it.
pub fn luck_of_rate(passed: usize, trials: usize) -> Option<f64> {
    let rate = passed as f64 / trials as f64;
    (trials > 1).then(|| rate * (1.0 - rate) / (trials - 1) as f64)
}

/// (z₀.₉₇₅ + z₀.₈)², or for the level of the strictest of several comparisons, by the quantiles of a distribution.
fn factor(comparisons: usize, quantile: impl Fn(f64) -> f64) -> f64 {
    let level = ALPHA / comparisons.max(1) as f64;
    (quantile(1.0 - level / 2.0) + quantile(POWER)).powi(2)
}

/// Returns the repetitions in each arm of so many strata that show `difference` in four of five runs.
pub fn repetitions_needed(strata: usize, luck: f64, difference: f64, comparisons: usize) -> usize {
    let factor = factor(comparisons, normal_quantile);
    let needed = factor * luck / (strata as f64 * difference * difference);
    (needed.ceil() as usize).saturating_add(1)
}

/// Returns the smallest difference that so many repetitions of so many strata show in four of five runs.
pub fn detectable(strata: usize, luck: f64, repetitions: f64, comparisons: usize) -> f64 {
    let counted = strata as f64 * (repetitions - 1.0).max(1.0);
    (factor(comparisons, normal_quantile) * luck / counted).sqrt()
}

/// Returns the evals that show `difference` beyond them in four of five runs, where that of one eval has this variance.
pub fn evals_needed(variance: f64, difference: f64) -> usize {
    (factor(1, normal_quantile) * variance / (difference * difference)).ceil() as usize
}

/// Returns the smallest difference that so many evals, at least two, show beyond them in four of five runs. A few evals
/// know their own variance badly, so the quantiles are Student's.
pub fn detectable_beyond(variance: f64, evals: usize, comparisons: usize) -> f64 {
    let factor = factor(comparisons, |p| student_quantile(p, (evals - 1) as f64));
    (factor * variance / evals as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_and_effect_are_told_apart() {
        let differences = [0.5, -0.5].repeat(10);
        let all = sample::variance(&differences).unwrap();
        assert_eq!(between(&differences, 0.01), (all - 0.01, false));
        assert_eq!(between(&differences, 0.5), (0.0, false), "never below none");
        assert_eq!(between(&[0.0; 19], 0.0), (LEAST_BETWEEN, true));
        assert_eq!(between(&[0.1], 0.0), (LEAST_BETWEEN, true));
    }

    #[test]
    fn as_in_the_table() {
        assert_eq!(repetitions_needed(8, 0.5, 0.2, 1), 14);
        assert_eq!(repetitions_needed(4, 0.5, 0.3, 1), 12);
        assert!(repetitions_needed(4, 0.5, 0.3, 3) > 12);
    }

    #[test]
    fn repetitions_that_are_advised_see_the_difference() {
        for (strata, difference) in [(4, 0.3), (8, 0.2), (20, 0.1)] {
            let needed = repetitions_needed(strata, 0.5, difference, 2) as f64;
            assert!(detectable(strata, 0.5, needed, 2) <= difference);
            assert!(detectable(strata, 0.5, needed - 1.0, 2) > difference);
        }
    }

    #[test]
    fn luck_is_never_nothing() {
        let all = luck(&Stratum::equal(&[((3, 3), (3, 3))])).unwrap();
        assert!((all - 2.0 * (3.5 / 4.0) * (0.5 / 4.0)).abs() < 1e-15);
        assert_eq!(luck(&[]), Err(CannotTell::NoEvals));
    }

    #[test]
    fn a_small_plan_sees_less_than_a_large_sample_would() {
        let large = |evals: usize| (factor(1, normal_quantile) * 0.07 / evals as f64).sqrt();
        let plan = |evals, comparisons| detectable_beyond(0.07, evals, comparisons);
        assert!(plan(6, 1) > 1.2 * large(6));
        assert!((plan(5000, 1) / large(5000) - 1.0).abs() < 1e-3);
        assert!(plan(12, 3) > plan(12, 1));
        let needed = evals_needed(0.07, 0.1);
        assert!(large(needed) <= 0.1 && large(needed - 1) > 0.1);
    }

    #[test]
    fn the_luck_of_one_trial_is_not_known() {
        assert_eq!(luck_of_rate(1, 1), None);
        assert_eq!(luck_of_rate(0, 0), None);
        assert!((luck_of_rate(1, 2).unwrap() - 0.25).abs() < 1e-15);
    }
}
