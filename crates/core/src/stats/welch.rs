//! The interval of a weighted difference of means on these evals: the luck of the trials within each eval, with the degrees
//! of freedom of Welch and Satterthwaite.

use super::permutation::Values;
use super::special::student_quantile;
use super::stratum::{TwoArms, difference};
use super::{CannotTell, Interval, sample, student};

/// Returns the interval that holds the true difference in `level` of all cases.
///
/// Where a cell has one trial only, or all trials of each cell are alike, the luck of a trial cannot be seen. Then the spread
/// of the evals' differences takes its place. It is at least as large, because the evals' true effects differ too.
pub fn interval(strata: &[Values], level: f64) -> Result<Interval, CannotTell> {
    let centre = difference(strata)?;
    let seen = parts(strata).map(|parts| {
        let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
        (parts, variance)
    });
    let Some((parts, variance)) = seen.filter(|(_, variance)| *variance > 0.0) else {
        let differences: Vec<f64> = strata.iter().map(Values::difference).collect();
        return student::interval_at(&differences, level);
    };
    let spread: f64 = parts
        .iter()
        .map(|(variance, degrees)| variance * variance / degrees)
        .sum();
    let degrees = variance * variance / spread;
    let t = student_quantile(f64::midpoint(1.0, level), degrees);
    Ok(Interval::around(centre, t * variance.sqrt()))
}

/// Each cell's part of the variance, and its degrees of freedom. `None` if a cell has one trial.
fn parts(strata: &[Values]) -> Option<Vec<(f64, f64)>> {
    strata
        .iter()
        .flat_map(|stratum| {
            [&stratum.arm, &stratum.baseline].map(|values| (stratum.weight(), values))
        })
        .map(|(weight, values)| {
            let count = values.len() as f64;
            // Equal logarithms may differ in their last digits.
            let variance = match sample::variance(values)? {
                _ if sample::is_constant(values) => 0.0,
                variance => variance,
            };
            Some((weight * weight * variance / count, count - 1.0))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_eval_is_welchs_t() {
        // Welch's own case, by hand: means 4 and 2, variances 2.5 and 1, 5 trials each.
        let strata = [Values {
            arm: vec![2.0, 3.0, 4.0, 5.0, 6.0],
            baseline: vec![1.0, 1.0, 2.0, 3.0, 3.0],
            share: 1,
        }];
        let found = interval(&strata, 0.95).unwrap();
        let variance = 2.5 / 5.0 + 1.0 / 5.0;
        let degrees = variance * variance / ((0.25f64) / 4.0 + 0.04 / 4.0);
        let half = student_quantile(0.975, degrees) * f64::sqrt(variance);
        assert!((found.low - (2.0 - half)).abs() < 1e-12);
        assert!((found.high - (2.0 + half)).abs() < 1e-12);
    }

    #[test]
    fn one_trial_each_uses_the_evals() {
        let strata: Vec<Values> = [(2.0, 1.0), (3.0, 1.5), (2.5, 2.0)]
            .iter()
            .map(|(arm, baseline)| Values {
                arm: vec![*arm],
                baseline: vec![*baseline],
                share: 3,
            })
            .collect();
        assert_eq!(
            interval(&strata, 0.95).unwrap(),
            student::interval(&[1.0, 1.5, 0.5]).unwrap()
        );
        assert_eq!(interval(&strata[..1], 0.95), Err(CannotTell::OneEval));
    }

    #[test]
    fn equal_values_have_no_width_to_show() {
        let stratum = |arm: f64| Values {
            arm: vec![arm; 2],
            baseline: vec![0.0; 2],
            share: 2,
        };
        assert_eq!(interval(&[stratum(1.0)], 0.95), Err(CannotTell::OneEval));
        let alike = [stratum(1.0), stratum(1.0)];
        assert_eq!(interval(&alike, 0.95), Err(CannotTell::NoVariation));
        let apart = [stratum(1.0), stratum(2.0)];
        assert_eq!(interval(&apart, 0.95), student::interval(&[1.0, 2.0]));
    }
}
