//! The times of a session, in seconds since its beginning, and how long a step took.
//!
//! Some agents tell the time of a step. Of the others, the time is known at which Terca read it.

use jiff::Timestamp;
use terca_core::text::prose;
use terca_core::transcript::Record;
use terca_core::transcript::trial_files::Session;

/// Reads times relative to the beginning of a session.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    /// The first time that the agent tells.
    first: Option<Timestamp>,
    /// The seconds from the beginning of the session to that time.
    ahead: f64,
}

impl Clock {
    /// A clock that the agent tells no times.
    #[cfg(test)]
    pub const NONE: Clock = Clock {
        first: None,
        ahead: 0.0,
    };

    /// Reads the times of a session. `agent_start` is its beginning by Terca's clock.
    pub fn of(session: &Session, agent_start: Option<Timestamp>) -> Self {
        let mut times = session.records().filter_map(|one| told(&one.record));
        let Some(first) = times.next() else {
            return Clock::default();
        };
        // A step is read after it happens. The shortest delay says how the two clocks differ.
        let read = |record: &Record| Some(read_at(record)? - seconds(first, told(record)?));
        let ahead = session.records().filter_map(|one| read(&one.record));
        let ahead = ahead.reduce(f64::min).or_else(|| {
            let ahead = seconds(agent_start?, first);
            // Clocks of two machines may differ by more than a session takes.
            (ahead < 3_600.0).then_some(ahead)
        });
        Clock {
            first: Some(first),
            ahead: ahead.unwrap_or(0.0).max(0.0),
        }
    }

    /// Returns the seconds from the beginning to a record.
    pub fn at(self, record: &Record) -> Option<f64> {
        let by_agent = told(record).zip(self.first);
        let by_agent = by_agent.map(|(time, first)| seconds(first, time) + self.ahead);
        by_agent
            .or_else(|| read_at(record))
            .filter(|seconds| *seconds >= 0.0)
    }

    /// Returns the seconds from a call to its result. Where both came in one line, the time of that line tells nothing.
    pub fn between(self, call: &Record, result: &Record) -> Option<f64> {
        let is_told = told(call).is_some() && told(result).is_some();
        if !is_told && (told(call).is_some() || told(result).is_some() || call.line == result.line)
        {
            return None;
        }
        Some(self.at(result)? - self.at(call)?).filter(|seconds| *seconds >= 0.0)
    }

    /// Returns `+3.2s`.
    pub fn words(self, record: &Record) -> Option<String> {
        self.at(record)
            .map(|seconds| format!("+{}", prose::duration(seconds)))
    }
}

fn told(record: &Record) -> Option<Timestamp> {
    record.time.as_deref()?.parse().ok()
}

fn read_at(record: &Record) -> Option<f64> {
    record.at_ms.map(|at| at as f64 / 1000.0)
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64()
}
