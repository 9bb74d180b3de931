//! The kernel's means to watch processes.

use std::os::fd::OwnedFd;

use rustix::process::Pid;

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
pub(super) fn has_no_children() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let looks = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, looks), Err(rustix::io::Errno::CHILD))
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
    let own = std::process::id().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{name}/stat")).ok()?;
            // The command's name is in brackets and may hold any text; the parent comes after the state.
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
            if parent == own { pid(&name) } else { None }
        })
        .collect()
}

fn pid(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}
