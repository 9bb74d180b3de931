//! Time that does not count: Terca was stopped by Ctrl+Z, and its agents with it.
//!
//! A process is stopped as a whole, so there is one such time for all of it.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::locked;

static STOPPED: Mutex<Stopped> = Mutex::new(Stopped {
    total: Duration::ZERO,
    total_running: Duration::ZERO,
    since: None,
});

struct Stopped {
    /// The pauses that are over, by the clock of [`Instant`].
    total: Duration,
    /// The same, by the clock of [`running_time`], which goes on while the machine sleeps.
    total_running: Duration,
    /// The beginning of a pause that is not over, by both.
    since: Option<(Instant, Duration)>,
}

fn stopped() -> MutexGuard<'static, Stopped> {
    locked(&STOPPED)
}

/// Stops counting.
pub fn begin() {
    stopped()
        .since
        .get_or_insert_with(|| (Instant::now(), running_time()));
}

/// Counts again.
pub fn end() {
    let mut stopped = stopped();
    if let Some((instant, running)) = stopped.since.take() {
        stopped.total += instant.elapsed();
        stopped.total_running += running_time().saturating_sub(running);
    }
}

/// Returns the time since the machine was started, or since some other moment that does not change, without pauses.
pub fn counted_time() -> Duration {
    let stopped = stopped();
    let now = match stopped.since {
        Some((_, running)) => running,
        None => running_time(),
    };
    now.saturating_sub(stopped.total_running)
}

/// A duration that grows, but not while Terca is stopped.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    started: Instant,
    stopped_before: Duration,
}

impl Stopwatch {
    /// Starts to measure.
    pub fn start() -> Self {
        let stopped = stopped();
        let started = match stopped.since {
            Some((since, _)) => since,
            None => Instant::now(),
        };
        Stopwatch {
            started,
            stopped_before: stopped.total,
        }
    }

    /// Returns the time since the start, without pauses.
    pub fn elapsed(&self) -> Duration {
        let stopped = stopped();
        let now = match stopped.since {
            Some((since, _)) => since,
            None => Instant::now(),
        };
        now.saturating_duration_since(self.started)
            .saturating_sub(stopped.total.saturating_sub(self.stopped_before))
    }
}

/// Returns the time since the machine was started, or since some other moment that does not change.
#[cfg(target_os = "linux")]
fn running_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(
        time.tv_sec.try_into().unwrap_or(0),
        time.tv_nsec.try_into().unwrap_or(0),
    )
}

#[cfg(not(target_os = "linux"))]
fn running_time() -> Duration {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopwatch_stands_still_in_a_pause() {
        let watch = Stopwatch::start();
        begin();
        let (before, clock) = (watch.elapsed(), counted_time());
        let real = Instant::now();
        while real.elapsed() < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        assert_eq!((watch.elapsed(), counted_time()), (before, clock));
        end();
        let after = Stopwatch::start();
        assert!(watch.elapsed() >= before && counted_time() >= clock);
        assert!(after.elapsed() <= watch.elapsed(), "it began later");
    }
}
