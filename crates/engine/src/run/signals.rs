//! Ctrl+C, SIGTERM and SIGHUP: they stop a run instead of ending the program.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::process::interrupt::Interrupt;
use crate::run::trial_thread::Message;

/// The exit status of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// A signal that follows one of the same kind sooner than this is an echo of it.
///
/// One press of Ctrl+C reaches every process at the terminal, and some of them pass it on: npm does so for its
/// scripts, and `timeout` sends SIGTERM to its child and to its group. Nobody reads the hint about a second press
/// in less time.
const ECHO: Duration = Duration::from_millis(500);

/// Receives signals from now on: the first asks agents to end, the second kills them. This thread raises the
/// interrupt itself, since the scheduler may be stuck writing to a pipe that nobody reads. The third ends the program
/// at once; the supervisors kill what is left.
pub fn forward(to: &Sender<Message>, interrupt: &Arc<Interrupt>) -> io::Result<()> {
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(wanted)?;
    let (to, interrupt) = (to.clone(), interrupt.clone());
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            let mut heard = Heard::default();
            for signal in signals.forever() {
                if heard.is_echo(signal, Instant::now()) {
                    continue;
                }
                match heard.count {
                    1 => interrupt.stop(),
                    2 => interrupt.kill(),
                    _ => std::process::exit(INTERRUPTED),
                }
                // Fails when the run is over already.
                let _ = to.send(Message::Signal);
            }
        })?;
    Ok(())
}

/// The signals so far, without echoes.
#[derive(Debug, Default)]
struct Heard {
    count: usize,
    last: Option<(i32, Instant)>,
}

impl Heard {
    /// Counts a signal, and tells whether it is an echo of the last one.
    fn is_echo(&mut self, signal: i32, at: Instant) -> bool {
        if self
            .last
            .is_some_and(|(last, since)| last == signal && at.duration_since(since) < ECHO)
        {
            return true;
        }
        self.last = Some((signal, at));
        self.count += 1;
        false
    }
}

/// Returns the signals that Terca was started to ignore, one bit each: `nohup terca` survives a hang-up.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts signals, each given with its time in milliseconds.
    fn counted(signals: &[(i32, u64)]) -> usize {
        let start = Instant::now();
        let mut heard = Heard::default();
        for (signal, at) in signals {
            heard.is_echo(*signal, start + Duration::from_millis(*at));
        }
        heard.count
    }

    #[test]
    fn a_press_that_is_passed_on_counts_once() {
        assert_eq!(counted(&[(SIGINT, 0), (SIGINT, 3), (SIGINT, 40)]), 1);
        assert_eq!(counted(&[(SIGINT, 0), (SIGINT, 499)]), 1);
    }

    #[test]
    fn a_second_press_counts() {
        assert_eq!(counted(&[(SIGINT, 0), (SIGINT, 500)]), 2);
        // However impatiently somebody presses: an echo does not put off the end of the echoes.
        assert_eq!(
            counted(&[
                (SIGINT, 0),
                (SIGINT, 200),
                (SIGINT, 400),
                (SIGINT, 600),
                (SIGINT, 1200)
            ]),
            3
        );
    }

    #[test]
    fn another_signal_is_no_echo() {
        assert_eq!(counted(&[(SIGHUP, 0), (SIGTERM, 1)]), 2);
    }
}
