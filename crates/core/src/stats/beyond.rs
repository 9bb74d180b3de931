//! The second question: would other tasks like these gain too? Here the evals are a sample.

use super::{CannotTell, Interval, student};

/// Fewer evals say nothing about others.
pub const FEWEST_EVALS: usize = 5;

/// Returns the interval of the difference over all evals of the kind: one difference for each eval, and the interval on
/// these evals. It reaches from the smaller of the two lower ends to the larger of the two upper ends, because neither may be
/// trusted alone: a handful of evals may agree by chance.
pub fn interval(differences: &[f64], on_these: Interval) -> Result<Interval, CannotTell> {
    if differences.len() < FEWEST_EVALS {
        return Err(CannotTell::TooFewEvals);
    }
    match student::interval(differences) {
        Ok(over_evals) => Ok(Interval {
            low: over_evals.low.min(on_these.low),
            high: over_evals.high.max(on_these.high),
        }),
        // Evals that all change alike have no spread of their own.
        Err(CannotTell::NoVariation) => Ok(on_these),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_both() {
        let on_these = Interval {
            low: 0.1,
            high: 0.3,
        };
        let apart = interval(&[0.9, -0.5, 0.2, 0.2, 0.2], on_these).unwrap();
        assert!(apart.low < 0.0 && apart.high > 0.3);
        assert_eq!(interval(&[0.2; 5], on_these), Ok(on_these));
        let near = interval(&[0.2, 0.2, 0.2, 0.2, 0.2001], on_these).unwrap();
        assert_eq!(near, on_these);
        assert_eq!(interval(&[0.2; 4], on_these), Err(CannotTell::TooFewEvals));
    }
}
