//! The interval of a mean over evals, by Student's t.

use super::special::student_quantile;
use super::{ALPHA, CannotTell, Interval, sample, wilson};

/// Returns the 95 % interval: one value for each eval.
pub fn interval(values: &[f64]) -> Result<Interval, CannotTell> {
    interval_at(values, 1.0 - ALPHA)
}

/// Returns the interval that holds the true mean in `level` of all cases.
pub fn interval_at(values: &[f64], level: f64) -> Result<Interval, CannotTell> {
    let centre = sample::mean(values).ok_or(CannotTell::NoEvals)?;
    let variance = sample::variance(values).ok_or(CannotTell::OneEval)?;
    if sample::is_constant(values) {
        return Err(CannotTell::NoVariation);
    }
    let n = values.len() as f64;
    let t = student_quantile(f64::midpoint(1.0, level), n - 1.0);
    Ok(Interval::around(centre, t * (variance / n).sqrt()))
}

/// The same for rates. Evals that all have the same rate would give an interval without width, as if all evals there
/// could ever be had it too; then each counts as one trial, and the interval is Wilson's.
pub fn interval_of_rates(rates: &[f64]) -> Result<Interval, CannotTell> {
    match interval(rates) {
        Err(CannotTell::NoVariation) => Ok(wilson::of_rate(rates[0], rates.len())),
        other => other.map(|interval| interval.clamp(0.0, 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_gives_a_reason() {
        assert_eq!(interval(&[]), Err(CannotTell::NoEvals));
        assert_eq!(interval(&[0.4]), Err(CannotTell::OneEval));
        assert_eq!(interval(&[0.1 + 0.2, 0.3]), Err(CannotTell::NoVariation));
        assert_eq!(interval_of_rates(&[1.0]), Err(CannotTell::OneEval));
    }

    #[test]
    fn evals_that_all_pass_are_not_certainty() {
        let all = interval_of_rates(&[1.0; 20]).unwrap();
        assert_eq!(all, wilson::wilson(20, 20).unwrap());
    }

    #[test]
    fn two_evals_by_hand() {
        // Mean 0.5, variance 0.02, so the half-width is 12.7062 × 0.1.
        let two = interval(&[0.4, 0.6]).unwrap();
        assert!(
            (two.low - (0.5 - 1.270_620_474)).abs() < 1e-9
                && (two.high - 1.770_620_474).abs() < 1e-9
        );
        assert_eq!(
            interval_of_rates(&[0.4, 0.6]).unwrap(),
            Interval {
                low: 0.0,
                high: 1.0
            }
        );
    }
}
