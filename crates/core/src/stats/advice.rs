//! How many repetitions would show a difference on these evals.

use super::special::normal_quantile;
use super::stratum::{Count, Stratum, check};
use super::{ALPHA, CannotTell, POWER};

/// Returns how much one trial in each arm of a stratum varies, as the mean over the strata.
///
/// Half a trial that passed and half a trial that failed are added to each arm, because an arm in which all trials passed is
/// not certain to pass.
pub fn luck(strata: &[Stratum]) -> Result<f64, CannotTell> {
    check(strata)?;
    let of_arm = |count: Count| {
        let rate = (count.passed as f64 + 0.5) / (count.trials as f64 + 1.0);
        rate * (1.0 - rate)
    };
    let sum: f64 = strata
        .iter()
        .map(|stratum| of_arm(stratum.arm) + of_arm(stratum.baseline))
        .sum();
    Ok(sum / strata.len() as f64)
}

/// (z₀.₉₇₅ + z₀.₈)², or for the level of the strictest of several comparisons.
fn factor(comparisons: usize) -> f64 {
    let level = ALPHA / comparisons.max(1) as f64;
    (normal_quantile(1.0 - level / 2.0) + normal_quantile(POWER)).powi(2)
}

/// Returns the repetitions in each arm of so many strata that show `difference` in four of five runs.
pub fn repetitions(strata: usize, luck: f64, difference: f64, comparisons: usize) -> usize {
    let needed = factor(comparisons) * luck / (strata as f64 * difference * difference);
    (needed.ceil() as usize).saturating_add(1)
}

/// Returns the smallest difference that so many repetitions of so many strata show in four of five runs.
pub fn detectable(strata: usize, luck: f64, repetitions: f64, comparisons: usize) -> f64 {
    let counted = strata as f64 * (repetitions - 1.0).max(1.0);
    (factor(comparisons) * luck / counted).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_in_the_table() {
        assert_eq!(repetitions(8, 0.5, 0.2, 1), 14);
        assert_eq!(repetitions(4, 0.5, 0.3, 1), 12);
        assert!(repetitions(4, 0.5, 0.3, 3) > 12);
    }

    #[test]
    fn repetitions_that_are_advised_see_the_difference() {
        for (strata, difference) in [(4, 0.3), (8, 0.2), (20, 0.1)] {
            let needed = repetitions(strata, 0.5, difference, 2) as f64;
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
}
