//! Time that does not count: Terca was stopped by Ctrl+Z, or everything was stopped by somebody else.
//!
//! A process is stopped as a whole, so there is one such time for all of it. Nothing announces a stop by SIGSTOP, a frozen
//! group of processes or a paused virtual machine: a thread that looks at the clock ([`Looks`]) finds that it missed some time.

use std::sync::{Mutex, MutexGuard, Once};
use std::time::{Duration, Instant};

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

/// The time between two looks at the clock.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);
/// A busy machine lets a thread wait, but hardly as long as this.
const MISSED: Duration = Duration::from_secs(3);

static STOPPED: Mutex<Stopped> = Mutex::new(Stopped {
    total: [Duration::ZERO; 2],
    since: None,
    looks: None,
});

struct Stopped {
    /// The pauses that are over.
    total: Times,
    /// The beginning of a pause that is not over.
    since: Option<Times>,
    /// The looks of the thread that looks.
    looks: Option<Looks>,
}

/// Looks at the clock that somebody takes at least once a second.
#[derive(Debug)]
pub struct Looks {
    last: Instant,
}

impl Looks {
    /// Takes the first look.
    pub fn begin() -> Self {
        Looks {
            last: Instant::now(),
        }
    }

    /// Takes another look. Returns the time since the last one, if this process was stopped meanwhile.
    pub fn missed(&mut self) -> Duration {
        self.missed_at(Instant::now())
    }

    fn missed_at(&mut self, now: Instant) -> Duration {
        let since = now.saturating_duration_since(self.last);
        self.last = now;
        if since > MISSED {
            since
        } else {
            Duration::ZERO
        }
    }
}

impl Stopped {
    /// Takes a look, and leaves out the time for which this process was stopped.
    fn look(&mut self) {
        let missed = self.looks.as_mut().map(Looks::missed).unwrap_or_default();
        // A pause that is not over has its own end.
        if self.since.is_none() {
            self.total = self.total.map(|total| total + missed);
        }
    }
}

/// Starts the thread that looks at the clock, once.
fn look_from_now_on() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        locked(&STOPPED).looks = Some(Looks::begin());
        let look = || {
            loop {
                std::thread::sleep(BETWEEN_LOOKS);
                drop(stopped());
            }
        };
        if std::thread::Builder::new()
            .name("clock".into())
            .spawn(look)
            .is_err()
        {
            // Without looks, all time counts.
            locked(&STOPPED).looks = None;
        }
    });
}

fn stopped() -> MutexGuard<'static, Stopped> {
    let mut stopped = locked(&STOPPED);
    stopped.look();
    stopped
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

/// A duration that grows, but not while Terca or the machine is stopped.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    started: Times,
}

impl Stopwatch {
    /// Starts to measure.
    pub fn start() -> Self {
        look_from_now_on();
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
    use super::*;

    #[test]
    fn time_that_nobody_looked_at_is_missed() {
        let mut looks = Looks::begin();
        let after = |seconds| looks.last + Duration::from_secs(seconds);
        let (soon, late, later) = (after(2), after(62), after(63));
        assert_eq!(looks.missed_at(soon), Duration::ZERO);
        assert_eq!(looks.missed_at(late), Duration::from_secs(60));
        assert_eq!(looks.missed_at(later), Duration::ZERO);
        assert_eq!(looks.missed_at(soon), Duration::ZERO, "never back");
    }

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
