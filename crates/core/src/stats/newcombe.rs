//! The interval of the difference of two independent pass rates: Newcombe's hybrid of two score intervals.

use super::wilson;
use super::{CannotTell, Interval};

/// Each arm is passed and trials; the difference is the first minus the second.
pub fn newcombe(first: (usize, usize), second: (usize, usize)) -> Result<Interval, CannotTell> {
    if first.1 == 0 || second.1 == 0 {
        return Err(CannotTell::NoTrials);
    }
    let rate = |(passed, trials): (usize, usize)| passed as f64 / trials as f64;
    Ok(of_rates((rate(first), first.1), (rate(second), second.1)))
}

pub(super) fn of_rates((p1, n1): (f64, usize), (p2, n2): (f64, usize)) -> Interval {
    let (one, two) = (wilson::of_rate(p1, n1), wilson::of_rate(p2, n2));
    let difference = p1 - p2;
    Interval {
        low: difference - (p1 - one.low).hypot(two.high - p2),
        high: difference + (one.high - p1).hypot(p2 - two.low),
    }
}
