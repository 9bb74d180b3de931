//! Time that does not count: Terca was stopped by Ctrl+Z, and its agents with it.
//!
//! A process is stopped as a whole, so there is one such time for all of it.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::locked;

/// The clock that goes on while the machine sleeps, where the system has one.
#[cfg(target_os = "linux")]
const ALWAYS: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const ALWAYS: ClockId = ClockId::Monotonic;

/// The time by the clock of programs, and by the one that goes on while the machine sleeps. Both began at some moment that
/// does not change.
type Times = [Duration; 2];

static STOPPED: Mutex<Stopped> = Mutex::new(Stopped {
    total: [Duration::ZERO; 2],
    since: None,
});

struct Stopped {
    /// The pauses that are over.
    total: Times,
    /// The beginning of a pause that is not over.
    since: Option<Times>,
}

fn stopped() -> MutexGuard<'static, Stopped> {
    locked(&STOPPED)
}

/// Stops counting.
pub fn begin() {
    stopped().since.get_or_insert_with(times);
}

/// Counts again.
pub fn end() {
    let mut stopped = stopped();
    if let Some(since) = stopped.since.take() {
        let paused = difference(times(), since);
        stopped.total = [0, 1].map(|clock| stopped.total[clock] + paused[clock]);
    }
}

/// Returns the times without pauses.
fn counted() -> Times {
    let stopped = stopped();
    difference(stopped.since.unwrap_or_else(times), stopped.total)
}

fn difference(later: Times, earlier: Times) -> Times {
    [0, 1].map(|clock| later[clock].saturating_sub(earlier[clock]))
}

/// Returns the time since the machine was started, or since some other moment that does not change, without pauses.
pub fn counted_time() -> Duration {
    let [_, always] = counted();
    always
}

/// A duration that grows, but not while Terca is stopped.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    started: Times,
}

impl Stopwatch {
    /// Starts to measure.
    pub fn start() -> Self {
        Stopwatch { started: counted() }
    }

    /// Returns the time since the start, without pauses.
    pub fn elapsed(&self) -> Duration {
        let [elapsed, _] = difference(counted(), self.started);
        elapsed
    }
}

fn times() -> Times {
    [ClockId::Monotonic, ALWAYS].map(|clock| {
        let time = clock_gettime(clock);
        Duration::new(
            time.tv_sec.try_into().unwrap_or(0),
            time.tv_nsec.try_into().unwrap_or(0),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

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
