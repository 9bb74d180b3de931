//! The times of a session: since its beginning, and how long a step took.

use jiff::Timestamp;
use terca_core::text::prose;
use terca_core::transcript::trial_files::Session;

/// Reads times relative to the beginning of a session.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    start: Option<Timestamp>,
}

impl Clock {
    /// A clock that knows no times.
    #[cfg(test)]
    pub const NONE: Clock = Clock { start: None };

    /// Starts at the first time that a session tells.
    pub fn of(session: &Session) -> Self {
        let mut times = session
            .records()
            .filter_map(|one| read(one.record.time.as_deref()));
        Clock {
            start: times.next(),
        }
    }

    /// Returns the seconds from the beginning to a time.
    pub fn seconds(self, time: Option<&str>) -> Option<f64> {
        let seconds = read(time)?.duration_since(self.start?).as_secs_f64();
        (seconds >= 0.0).then_some(seconds)
    }

    /// Returns the seconds from another time to the beginning.
    pub fn since(self, other: Timestamp) -> Option<f64> {
        let seconds = self.start?.duration_since(other).as_secs_f64();
        // Clocks of two machines may differ by more than a session takes.
        (0.0..3_600.0).contains(&seconds).then_some(seconds)
    }

    /// Returns `+3.2s`.
    pub fn words(self, time: Option<&str>) -> Option<String> {
        self.seconds(time)
            .map(|seconds| format!("+{}", prose::duration(seconds)))
    }
}

fn read(time: Option<&str>) -> Option<Timestamp> {
    time?.parse().ok()
}
