//! One eval, or one eval in one environment, in both arms. A comparison on these evals is a sum over strata.

use super::CannotTell;

/// How often the trials of one arm passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Trials that passed.
    pub passed: usize,
    /// Trials that were judged.
    pub trials: usize,
}

/// The trials of one stratum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stratum {
    /// With the experiment.
    pub arm: Count,
    /// Without it.
    pub baseline: Count,
    /// The weight is 1 over this number. The weights of all strata add up to 1.
    pub share: usize,
}

/// A stratum in both arms, of counts or of values.
pub trait TwoArms {
    /// Returns the number of the values of the arm, and their sum; and those of the baseline.
    fn arms(&self) -> [(f64, f64); 2];

    /// Returns the number that the weight is 1 over.
    fn share(&self) -> usize;

    /// Returns the difference of the two rates or means.
    fn difference(&self) -> f64 {
        let [(n, a), (m, b)] = self.arms();
        a / n - b / m
    }

    /// Returns the weight.
    fn weight(&self) -> f64 {
        1.0 / self.share() as f64
    }
}

impl TwoArms for Stratum {
    fn arms(&self) -> [(f64, f64); 2] {
        [self.arm, self.baseline].map(|count| (count.trials as f64, count.passed as f64))
    }

    fn share(&self) -> usize {
        self.share
    }
}

/// Returns the weighted difference of the pass rates or means.
pub fn difference(strata: &[impl TwoArms]) -> Result<f64, CannotTell> {
    check(strata)?;
    Ok(strata
        .iter()
        .map(|stratum| stratum.weight() * stratum.difference())
        .sum())
}

/// Refuses strata without trials in one of the arms.
pub(super) fn check(strata: &[impl TwoArms]) -> Result<(), CannotTell> {
    if strata.is_empty() {
        return Err(CannotTell::NoEvals);
    }
    let mut arms = strata.iter().flat_map(TwoArms::arms);
    match arms.any(|(number, _)| number == 0.0) {
        true => Err(CannotTell::NoTrials),
        false => Ok(()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Passed and judged trials of the arm, and of the baseline.
    pub type PassedOf = ((usize, usize), (usize, usize));

    impl Stratum {
        /// Makes strata of equal weight from `(passed, trials)` of the arm and of the baseline.
        pub fn equal(counts: &[PassedOf]) -> Vec<Self> {
            let count = |(passed, trials)| Count { passed, trials };
            counts
                .iter()
                .map(|(arm, baseline)| Stratum {
                    arm: count(*arm),
                    baseline: count(*baseline),
                    share: counts.len(),
                })
                .collect()
        }
    }
}
