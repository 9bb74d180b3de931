//! Ends children until there are none.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::os;

/// Kills and reaps until no child is left that is wanted dead. A killed child's own children come here, since
/// this process is their subreaper, and are met in the next round. Returns how many could not be ended: a
/// program that made itself another user's (`sudo`, setuid) is beyond us.
pub(super) fn end_children(wanted: impl Fn(Pid) -> bool) -> usize {
    let mut beyond_us: Vec<Pid> = Vec::new();
    if os::has_no_children() {
        return 0;
    }
    loop {
        let doomed: Vec<Pid> = os::children()
            .into_iter()
            .filter(|pid| wanted(*pid) && !beyond_us.contains(pid))
            .collect();
        if doomed.is_empty() {
            return beyond_us.len();
        }
        for pid in &doomed {
            if kill_process(*pid, Signal::KILL) == Err(Errno::PERM) {
                beyond_us.push(*pid);
            }
        }
        for pid in doomed.into_iter().filter(|pid| !beyond_us.contains(pid)) {
            // It is dying: this does not take long.
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}
