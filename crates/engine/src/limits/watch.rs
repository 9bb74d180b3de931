//! Looks at a command while it runs, and finds it beyond its limits.

use std::time::{Duration, Instant};

use rustix::process::Pid;
use terca_core::config::suite::TrialLimits;
use terca_core::text::prose;

use super::disk::DiskWatch;
use super::usage;
use super::watched_dir::WatchedDir;

/// The time between two looks at processes.
const PAUSE: Duration = Duration::from_millis(90);

/// Looks at a command while it runs.
#[derive(Debug)]
pub(super) struct Watch {
    /// Bytes of memory.
    memory: Option<u64>,
    /// Processes and threads, the supervisor's among them.
    processes: Option<u64>,
    disk: DiskWatch,
    next_look: Instant,
    beyond: Option<Beyond>,
}

/// The limit that a command is beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beyond {
    Memory,
    Processes,
    /// The disk space of the directory with this name.
    Disk(&'static str),
}

impl Watch {
    pub(super) fn new(
        memory: Option<u64>,
        processes: Option<u64>,
        disk: u64,
        dirs: Vec<WatchedDir>,
    ) -> Self {
        Watch {
            memory,
            processes,
            disk: DiskWatch::new(disk, dirs),
            next_look: Instant::now(),
            beyond: None,
        }
    }

    /// Returns the limit that was passed.
    pub(super) fn beyond(&self) -> Option<Beyond> {
        self.beyond
    }

    /// Looks, if it is time. Returns whether a limit is passed, or was before.
    pub(super) fn is_beyond(&mut self, root: Option<Pid>) -> bool {
        if self.beyond.is_none() {
            self.beyond = self
                .beyond_processes(root)
                .or_else(|| self.disk.find_too_large(root).map(Beyond::Disk));
        }
        self.beyond.is_some()
    }

    fn beyond_processes(&mut self, root: Option<Pid>) -> Option<Beyond> {
        let now = Instant::now();
        if (self.memory.is_none() && self.processes.is_none()) || now < self.next_look {
            return None;
        }
        self.next_look = now + PAUSE;
        let usage = usage::of_tree(root?);
        if self.memory.is_some_and(|most| usage.memory > most) {
            return Some(Beyond::Memory);
        }
        let is_beyond = self.processes.is_some_and(|most| usage.tasks > most);
        is_beyond.then_some(Beyond::Processes)
    }
}

impl Beyond {
    /// Returns a sentence that says who was ended, and why.
    pub(super) fn sentence(self, who: &str, limits: &TrialLimits) -> String {
        let limit = match self {
            Beyond::Memory => format!(
                "limits.memory ({})",
                prose::bytes(limits.memory.unwrap_or_default())
            ),
            Beyond::Processes => {
                format!(
                    "limits.processes ({})",
                    limits.processes.unwrap_or_default()
                )
            }
            Beyond::Disk(name) => {
                format!("limits.disk ({}) in its {name}", prose::bytes(limits.disk))
            }
        };
        format!("{who} exceeded {limit}, and was ended")
    }
}
