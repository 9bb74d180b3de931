//! Stops all processes below this one, and lets them go on.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::os;
use crate::process::own_process::state_and_parent;

/// A process that starts others while it is being stopped is looked at so often.
const MOST_LOOKS: usize = 100;

/// Processes that were stopped.
#[derive(Debug)]
pub(super) struct Frozen {
    since: Instant,
    /// Parents before their children. Those that were stopped by somebody else are not among them.
    stopped: Vec<Pid>,
}

impl Frozen {
    /// Stops everything below this process. Parents come first: a shell must not see its children stop.
    pub(super) fn all() -> Self {
        let mut frozen = Frozen {
            since: Instant::now(),
            stopped: Vec::new(),
        };
        let mut seen: Vec<Pid> = Vec::new();
        for _ in 0..MOST_LOOKS {
            let before = seen.len();
            let mut next = os::children();
            while let Some(pid) = next.pop() {
                if !seen.contains(&pid) {
                    seen.push(pid);
                    if !is_stopped(pid) && kill_process(pid, Signal::STOP).is_ok() {
                        frozen.stopped.push(pid);
                    }
                }
                next.extend(os::children_of(&pid.to_string()).unwrap_or_default());
            }
            // Signals take a moment: nobody may have started another process meanwhile.
            if seen.len() == before && frozen.stopped.iter().all(|pid| is_stopped(*pid)) {
                break;
            }
        }
        frozen
    }

    /// Lets them go on, children first. Returns how long they were stopped.
    pub(super) fn thaw(self) -> Duration {
        for pid in self.stopped.iter().rev() {
            // It may be gone.
            let _ = kill_process(*pid, Signal::CONT);
        }
        self.since.elapsed()
    }
}

/// Tells whether a process is stopped, or is no more.
fn is_stopped(pid: Pid) -> bool {
    let found = state_and_parent(pid.as_raw_nonzero().get());
    found.is_none_or(|(state, _)| "TtZX".contains(state))
}
