//! The interval of a pass rate, by Wilson's score, and of the difference of two independent ones, by Newcombe's hybrid of two
//! score intervals. Unlike the textbook's they are right for few trials and at the ends.

use super::special::normal_quantile;
use super::{ALPHA, CannotTell, Interval};

/// Returns Wilson's interval of a rate.
pub fn wilson(passed: usize, trials: usize) -> Result<Interval, CannotTell> {
    if trials == 0 {
        return Err(CannotTell::NoTrials);
    }
    Ok(of_rate(passed as f64 / trials as f64, trials))
}

/// The same of a rate, where what was counted need not be whole.
pub(super) fn of_rate(rate: f64, trials: usize) -> Interval {
    let (n, z) = (trials as f64, normal_quantile(1.0 - ALPHA / 2.0));
    let shrink = 1.0 + z * z / n;
    let centre = (rate + z * z / (2.0 * n)) / shrink;
    let half_width = z / shrink * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt();
    let interval = Interval::around(centre, half_width);
    Interval {
        low: if rate <= 0.0 { 0.0 } else { interval.low },
        high: if rate >= 1.0 { 1.0 } else { interval.high },
    }
}

/// Returns the interval of a difference, the first rate minus the second. Each arm is passed and trials.
pub fn newcombe(first: (usize, usize), second: (usize, usize)) -> Result<Interval, CannotTell> {
    let (one, two) = (wilson(first.0, first.1)?, wilson(second.0, second.1)?);
    let rate = |(passed, trials): (usize, usize)| passed as f64 / trials as f64;
    let (p1, p2) = (rate(first), rate(second));
    Ok(Interval {
        low: p1 - p2 - (p1 - one.low).hypot(two.high - p2),
        high: p1 - p2 + (one.high - p1).hypot(p2 - two.low),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_exact() {
        assert_eq!(wilson(0, 0), Err(CannotTell::NoTrials));
        for trials in 1..200 {
            assert_eq!(wilson(0, trials).unwrap().low.to_bits(), 0.0f64.to_bits());
            assert_eq!(
                wilson(trials, trials).unwrap().high.to_bits(),
                1.0f64.to_bits()
            );
        }
    }
}
