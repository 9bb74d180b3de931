//! Two arms on the same evals: the mean of the evals' differences, its interval, and its p-value.

use super::{CannotTell, Interval, newcombe, sample, sign_flip, student};

/// The result of a paired test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// The first arm minus the second, or over it when it is a ratio.
    pub difference: f64,
    /// The 95 % interval.
    pub interval: Result<Interval, CannotTell>,
    /// The p-value.
    pub p: Result<f64, CannotTell>,
    /// The number of evals.
    pub evals: usize,
}

/// One pair of rates, or of scores between 0 and 1, for each eval.
pub fn difference_of_rates(pairs: &[(f64, f64)], seed: u64) -> Result<Paired, CannotTell> {
    let differences: Vec<f64> = pairs.iter().map(|(first, second)| first - second).collect();
    let found = difference(&differences, seed)?;
    let interval = match found.interval {
        // Evals that all change alike would give an interval without width; then each counts as one trial of an arm.
        Err(CannotTell::NoVariation) => Ok(over_evals(pairs)),
        other => other,
    };
    Ok(Paired {
        interval: interval.map(|interval| interval.clamp(-1.0, 1.0)),
        ..found
    })
}

fn over_evals(pairs: &[(f64, f64)]) -> Interval {
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let arm = |rates: &[f64]| (sample::mean(rates).unwrap_or(0.0), rates.len());
    newcombe::of_rates(arm(&first), arm(&second))
}

/// One difference for each eval.
pub fn difference(differences: &[f64], seed: u64) -> Result<Paired, CannotTell> {
    Ok(Paired {
        difference: sample::mean(differences).ok_or(CannotTell::NoEvals)?,
        interval: student::interval(differences),
        p: sign_flip::p_value(differences, seed),
        evals: differences.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_eval_has_a_difference_and_nothing_more() {
        let one = difference_of_rates(&[(1.0, 0.5)], 0).unwrap();
        assert_eq!(
            (one.difference, one.interval, one.p),
            (0.5, Err(CannotTell::OneEval), Err(CannotTell::OneEval))
        );
        assert_eq!(difference_of_rates(&[], 0), Err(CannotTell::NoEvals));
    }

    #[test]
    fn all_changed_alike_is_not_certainty() {
        let all = difference_of_rates(&[(1.0, 0.0); 12], 0).unwrap();
        let interval = all.interval.unwrap();
        assert!(
            interval.low > 0.6 && interval.low < 0.7 && interval.high == 1.0,
            "{interval:?}"
        );
        let none = difference_of_rates(&[(1.0, 1.0); 12], 0).unwrap();
        assert_eq!(none.p, Ok(1.0));
        assert!(none.interval.unwrap().low < -0.2 && none.interval.unwrap().high > 0.2);
    }
}
