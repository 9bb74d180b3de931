//! What the kernel offers for looking after processes.

use std::os::fd::OwnedFd;

use rustix::process::Pid;

/// Orphans below this process become its children.
#[cfg(target_os = "linux")]
pub(super) fn become_subreaper() {
    // Cannot fail on any kernel that Rust runs on; without it the process group is still ended.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
pub(super) fn become_subreaper() {}

/// A file that becomes readable when the process has ended; without one, the caller looks from time to time.
#[cfg(target_os = "linux")]
pub(super) fn exit_watch(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn exit_watch(_pid: Pid) -> Option<OwnedFd> {
    None
}

/// Whether there is nobody to look after: the kernel's word, and much quicker to have than its list.
pub(super) fn has_no_children() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let looks = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, looks), Err(rustix::io::Errno::CHILD))
}

/// The children of this process, adopted ones included.
pub(super) fn children() -> Vec<Pid> {
    children_from_tasks().unwrap_or_else(children_from_stat)
}

/// The kernel's own list, one file a thread.
fn children_from_tasks() -> Option<Vec<Pid>> {
    let mut pids = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").ok()? {
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

/// The same by asking every process for its parent.
fn children_from_stat() -> Vec<Pid> {
    let own = std::process::id().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{name}/stat")).ok()?;
            // The command's name stands in brackets and may hold anything; the parent comes after the state.
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
            if parent == own { pid(&name) } else { None }
        })
        .collect()
}

fn pid(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}
