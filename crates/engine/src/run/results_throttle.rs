//! The pace at which `results.json` is written while a run goes on.

use std::time::{Duration, Instant};

use terca_core::run::state::Counts;

/// The shortest time between two writes.
const INTERVAL: Duration = Duration::from_millis(500);
/// Writing takes at most this part of the time, however large the results grow.
const SHARE: u32 = 50;
/// This part of all trials has to end between two writes: what is written over a whole run grows with the number of
/// trials, not with its square.
const PARTS: usize = 16;
/// A reader of the results never waits longer than this for a trial that ended.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The last write: when, how long it took, and how many trials had ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastWrite {
    at: Instant,
    took: Duration,
    finished: usize,
}

impl LastWrite {
    /// Notes a write that began at this time.
    pub(super) fn new(began: Instant, counts: &Counts) -> Self {
        LastWrite {
            at: Instant::now(),
            took: began.elapsed(),
            finished: counts.finished(),
        }
    }

    /// Tells whether it is time to write again.
    pub(super) fn is_outdated(&self, counts: &Counts) -> bool {
        let age = self.at.elapsed();
        let news = counts.finished().saturating_sub(self.finished);
        let enough = news >= (counts.total / PARTS).max(1) || (news > 0 && age >= LONGEST_WAIT);
        enough && age >= INTERVAL.max(self.took * SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_written_again_when_enough_has_happened() {
        let ago = |seconds| LastWrite {
            at: Instant::now() - Duration::from_secs(seconds),
            took: Duration::from_millis(20),
            finished: 100,
        };
        for (seconds, total, passed, outdated) in [
            (2, 200, 100, false),
            (2, 200, 112, true),
            (0, 200, 112, false),
            (2, 5000, 112, false),
            (2, 5000, 412, true),
            (31, 5000, 101, true),
            (31, 5000, 100, false),
        ] {
            let counts = Counts {
                total,
                passed,
                ..Counts::default()
            };
            assert_eq!(
                ago(seconds).is_outdated(&counts),
                outdated,
                "{seconds} {total} {passed}"
            );
        }
    }
}
