//! Ends all children of this process, and theirs.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::os;

/// Kills and reaps children until none is left that `is_unwanted` selects. The children of a killed child come to
/// this process, which is their subreaper, and are ended in the next round. Returns how many could not be ended: a
/// program that runs as another user (`sudo`, setuid) is out of reach.
pub(super) fn end_children(is_unwanted: impl Fn(Pid) -> bool) -> usize {
    let mut out_of_reach: Vec<Pid> = Vec::new();
    if os::has_no_children() {
        return 0;
    }
    loop {
        let doomed: Vec<Pid> = os::children()
            .into_iter()
            .filter(|pid| is_unwanted(*pid) && !out_of_reach.contains(pid))
            .collect();
        if doomed.is_empty() {
            return out_of_reach.len();
        }
        for pid in &doomed {
            if kill_process(*pid, Signal::KILL) == Err(Errno::PERM) {
                out_of_reach.push(*pid);
            }
        }
        for pid in doomed.into_iter().filter(|pid| !out_of_reach.contains(pid)) {
            // It is dying: this does not take long.
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}
