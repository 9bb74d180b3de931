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

impl Count {
    /// Returns the share of trials that passed.
    pub fn rate(self) -> f64 {
        self.passed as f64 / self.trials as f64
    }
}

/// Passed and judged trials of the arm, and of the baseline.
pub type PassedOf = ((usize, usize), (usize, usize));

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

/// A stratum in both arms, of counts or of values.
pub trait TwoArms {
    /// Returns the number of trials of the arm, and of the baseline.
    fn sizes(&self) -> [usize; 2];

    /// Returns the difference of the two rates or means.
    fn difference(&self) -> f64;

    /// Returns the number that the weight is 1 over.
    fn share(&self) -> usize;

    /// Returns the weight.
    fn weight(&self) -> f64 {
        1.0 / self.share() as f64
    }
}

impl TwoArms for Stratum {
    fn sizes(&self) -> [usize; 2] {
        [self.arm.trials, self.baseline.trials]
    }

    fn difference(&self) -> f64 {
        self.arm.rate() - self.baseline.rate()
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
    if strata.iter().any(|stratum| stratum.sizes().contains(&0)) {
        return Err(CannotTell::NoTrials);
    }
    Ok(())
}
