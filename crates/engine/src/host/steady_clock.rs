//! The time of day, from a clock that nobody sets.
//!
//! A run takes hours, and a machine's clock may be set back or on meanwhile: the difference of two times would then be no
//! duration. So the time of day is looked at once, and from there on counted by the time since the machine was started,
//! its sleep included. The time for which Terca was stopped by Ctrl+Z is left out: it belongs to no trial.

use std::sync::OnceLock;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::process::pause::counted_time;

/// A time of day, and the time since the machine's start at that moment.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    day: Timestamp,
    running: Duration,
}

/// Returns the time of day, as Terca counts it since it was started. Of two calls the later one never has the earlier
/// time.
pub fn now() -> Timestamp {
    static ANCHOR: OnceLock<Anchor> = OnceLock::new();
    let anchor = ANCHOR.get_or_init(|| Anchor {
        day: Timestamp::now(),
        running: counted_time(),
    });
    anchor.after(counted_time())
}

impl Anchor {
    fn after(&self, running: Duration) -> Timestamp {
        let passed = running.saturating_sub(self.running);
        let passed = SignedDuration::try_from(passed).unwrap_or(SignedDuration::MAX);
        self.day.saturating_add(passed).unwrap_or(Timestamp::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_from_one_look_at_the_time_of_day() {
        let anchor = Anchor {
            day: "2026-01-01T00:00:00Z".parse().unwrap(),
            running: Duration::from_secs(100),
        };
        let at = |seconds| anchor.after(Duration::from_secs(seconds)).to_string();
        assert_eq!(at(100), "2026-01-01T00:00:00Z");
        assert_eq!(at(3700), "2026-01-01T01:00:00Z");
        assert_eq!(at(50), "2026-01-01T00:00:00Z", "never back");
        assert_eq!(at(u64::MAX), Timestamp::MAX.to_string(), "never an error");
    }

    #[test]
    fn it_goes_on() {
        let first = now();
        let mut later = now();
        while later == first {
            later = now();
        }
        assert!(later > first);
        assert!(Timestamp::now().duration_since(first).abs() < SignedDuration::from_hours(1));
    }
}
