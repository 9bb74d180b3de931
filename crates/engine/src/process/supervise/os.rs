//! The kernel's means to watch processes, and to end them.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::process::own_process::state_and_parent;

/// Waits until one of these files can be read, at most so long. Returns whether the first can.
pub(super) fn wait_for(files: &[BorrowedFd<'_>], patience: Duration) -> bool {
    let polled = files
        .iter()
        .map(|file| PollFd::from_borrowed_fd(*file, PollFlags::IN));
    let mut polled: Vec<PollFd<'_>> = polled.collect();
    let timeout = Timespec {
        tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(patience.subsec_nanos()),
    };
    poll(&mut polled, Some(&timeout)).is_ok() && !polled[0].revents().is_empty()
}

/// Has files that are received closed in children, in the same call. Empty where there is no such flag.
#[cfg(target_os = "linux")]
pub(super) const CLOSED_IN_CHILDREN: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
pub(super) const CLOSED_IN_CHILDREN: RecvFlags = RecvFlags::empty();

/// Makes orphans below this process its children.
#[cfg(target_os = "linux")]
pub(super) fn become_subreaper() {
    // Cannot fail on any kernel that Rust runs on; without it the process group is still ended.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
pub(super) fn become_subreaper() {}

/// Returns a file that becomes readable when the process has ended. Without one, the caller looks from time to time.
#[cfg(target_os = "linux")]
pub(super) fn exit_watch(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn exit_watch(_pid: Pid) -> Option<OwnedFd> {
    None
}

/// Returns whether this process has no children. Much quicker than the list of them.
fn has_no_children() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let looks = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, looks), Err(Errno::CHILD))
}

/// Returns the children of this process, adopted ones included.
pub(super) fn children() -> Vec<Pid> {
    children_of("self").unwrap_or_else(children_from_stat)
}

/// Reads the kernel's list of the children of a process, which is one file for each thread. `None` if the process is gone
/// or the kernel has no such list.
pub(crate) fn children_of(process: &str) -> Option<Vec<Pid>> {
    let mut pids = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{process}/task")).ok()? {
        let Ok(task) = task else { continue };
        match std::fs::read_to_string(task.path().join("children")) {
            Ok(list) => pids.extend(list.split_whitespace().filter_map(pid)),
            // A thread that has just ended has no list; a kernel without the feature has none at all.
            Err(_) if task.path().exists() => return None,
            Err(_) => {}
        }
    }
    Some(pids)
}

/// Finds the children by looking at the parent of every process.
fn children_from_stat() -> Vec<Pid> {
    let own = std::process::id().cast_signed();
    let processes = std::fs::read_dir("/proc").into_iter().flatten();
    processes
        .filter_map(|entry| {
            let child = pid(entry.ok()?.file_name().to_str()?)?;
            let (_, parent) = state_and_parent(child.as_raw_nonzero().get())?;
            (parent == own).then_some(child)
        })
        .collect()
}

fn pid(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

/// Kills and reaps children until none is left that `is_unwanted` selects. The children of a killed child come to
/// this process, which is their subreaper, and are ended in the next round. Returns how many could not be ended: a
/// program that runs as another user (`sudo`, setuid) is out of reach.
pub(super) fn end_children(is_unwanted: impl Fn(Pid) -> bool) -> usize {
    let mut out_of_reach: Vec<Pid> = Vec::new();
    if has_no_children() {
        return 0;
    }
    loop {
        let doomed: Vec<Pid> = children()
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
