//! The evals and repetitions that it takes to see a difference, and the difference that a plan can see.
//!
//! The variance of one eval's difference has two parts: ω², by which the evals' true effects differ, and the luck of
//! the trials, which falls with the number of repetitions. More evals make both small, more repetitions the second.

use super::special::{normal_quantile, student_quantile};
use super::{ALPHA, CannotTell, POWER, sample};

/// The variance of one eval's difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// ω²: the variance of the evals' true effects.
    pub between: f64,
    /// σ²_A/K_A + σ²_B/K_B: what the luck of the trials adds with the repetitions at hand.
    pub luck: f64,
}

impl Spread {
    /// From the differences found, and how much of their variance is luck (the mean over the evals).
    pub fn of(differences: &[f64], luck: f64) -> Result<Self, CannotTell> {
        if differences.is_empty() {
            return Err(CannotTell::NoEvals);
        }
        let variance = sample::variance(differences).ok_or(CannotTell::OneEval)?;
        let spread = Spread {
            between: (variance - luck).max(0.0),
            luck,
        };
        if spread.total() > 0.0 {
            Ok(spread)
        } else {
            Err(CannotTell::NoVariation)
        }
    }

    /// Returns the whole variance.
    pub fn total(self) -> f64 {
        self.between + self.luck
    }
}

/// (z₀.₉₇₅ + z₀.₈)².
fn factor() -> f64 {
    (normal_quantile(1.0 - ALPHA / 2.0) + normal_quantile(POWER)).powi(2)
}

/// Returns how many evals it takes to see `difference` with these repetitions.
pub fn evals_needed(spread: Spread, difference: f64) -> usize {
    (factor() * spread.total() / (difference * difference)).ceil() as usize
}

/// The smallest difference that so many evals see in four of five cases.
pub fn detectable(spread: Spread, evals: usize) -> Result<f64, CannotTell> {
    if evals == 0 {
        Err(CannotTell::NoEvals)
    } else {
        Ok((factor() * spread.total() / evals as f64).sqrt())
    }
}

/// Returns the power of a plan. Plans are often small, so Student's t replaces the normal distribution, since the
/// variance will be estimated from the evals, and the level is that of the strictest of several comparisons.
pub fn detectable_in_plan(
    spread: Spread,
    evals: usize,
    comparisons: usize,
) -> Result<f64, CannotTell> {
    if evals < 2 {
        return Err(if evals == 0 {
            CannotTell::NoEvals
        } else {
            CannotTell::OneEval
        });
    }
    let quantile = |p: f64| student_quantile(p, (evals - 1) as f64);
    let level = ALPHA / comparisons.max(1) as f64;
    let factor = (quantile(1.0 - level / 2.0) + quantile(POWER)).powi(2);
    Ok((factor * spread.total() / evals as f64).sqrt())
}

/// The variance of a pass rate that comes from the luck of its trials: σ²/K. One trial shows none of it.
pub fn luck_of_rate(passed: usize, trials: usize) -> Result<f64, CannotTell> {
    match trials {
        0 => Err(CannotTell::NoTrials),
        1 => Err(CannotTell::OneRepetition),
        _ => {
            let rate = passed as f64 / trials as f64;
            Ok(rate * (1.0 - rate) / (trials - 1) as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_and_effect_are_told_apart() {
        let spread = Spread::of(&[0.1, -0.1, 0.3, 0.1], 0.01).unwrap();
        assert!((spread.between - (0.08 / 3.0 - 0.01)).abs() < 1e-12);
        assert!(
            (Spread::of(&[0.1, -0.1], 0.5).unwrap().between).abs() < 1e-12,
            "never below none"
        );
        assert_eq!(Spread::of(&[0.0; 5], 0.0), Err(CannotTell::NoVariation));
        assert_eq!(Spread::of(&[0.1], 0.0), Err(CannotTell::OneEval));
    }

    #[test]
    fn what_is_needed_can_just_be_detected() {
        let spread = Spread {
            between: 0.01,
            luck: 0.06,
        };
        let evals = evals_needed(spread, 0.1);
        assert!(
            detectable(spread, evals).unwrap() <= 0.1
                && detectable(spread, evals - 1).unwrap() > 0.1
        );
    }

    #[test]
    fn a_small_plan_sees_less_than_a_large_sample_would() {
        let spread = Spread {
            between: 0.01,
            luck: 0.06,
        };
        let plan = |evals, comparisons| detectable_in_plan(spread, evals, comparisons).unwrap();
        assert!(plan(6, 1) > 1.2 * detectable(spread, 6).unwrap());
        assert!((plan(5000, 1) / detectable(spread, 5000).unwrap() - 1.0).abs() < 1e-3);
        assert!(plan(12, 3) > plan(12, 1));
        assert_eq!(detectable_in_plan(spread, 1, 1), Err(CannotTell::OneEval));
        assert_eq!(detectable_in_plan(spread, 0, 1), Err(CannotTell::NoEvals));
    }

    #[test]
    fn the_luck_of_one_trial_is_not_known() {
        assert_eq!(luck_of_rate(1, 1), Err(CannotTell::OneRepetition));
        assert_eq!(luck_of_rate(0, 0), Err(CannotTell::NoTrials));
        assert!((luck_of_rate(1, 2).unwrap() - 0.25).abs() < 1e-15);
    }
}
