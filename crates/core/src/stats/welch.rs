//! The interval of a weighted difference of means on these evals: the luck of the trials within each eval, with the degrees
//! of freedom of Welch and Satterthwaite.

use super::permutation::{Values, difference};
use super::special::student_quantile;
use super::{ALPHA, CannotTell, Interval, sample, student};

/// Returns the 95 % interval.
///
/// Where a cell has one trial only, its luck cannot be seen. Then the spread of the evals' differences takes its place. It is
/// at least as large, because the evals' true effects differ too.
pub fn interval(strata: &[Values]) -> Result<Interval, CannotTell> {
    let centre = difference(strata)?;
    let Some(parts) = parts(strata) else {
        let differences: Vec<f64> = strata.iter().map(Values::difference).collect();
        return student::interval(&differences);
    };
    let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
    if variance <= 0.0 {
        return Err(CannotTell::NoVariation);
    }
    let spread: f64 = parts
        .iter()
        .map(|(variance, degrees)| variance * variance / degrees)
        .sum();
    let degrees = variance * variance / spread;
    let t = student_quantile(1.0 - ALPHA / 2.0, degrees);
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
            let variance = sample::variance(values)?;
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
        let found = interval(&strata).unwrap();
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
            interval(&strata).unwrap(),
            student::interval(&[1.0, 1.5, 0.5]).unwrap()
        );
        assert_eq!(interval(&strata[..1]), Err(CannotTell::OneEval));
    }

    #[test]
    fn equal_values_have_no_width_to_show() {
        let strata = [Values {
            arm: vec![1.0, 1.0],
            baseline: vec![0.0, 0.0],
            share: 1,
        }];
        assert_eq!(interval(&strata), Err(CannotTell::NoVariation));
    }
}
