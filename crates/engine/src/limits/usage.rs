//! The memory and the processes of a command, counted from outside.

use std::os::unix::fs::MetadataExt;

use rustix::process::Pid;

use crate::process::supervise::children_of;

/// The most processes that are looked at. A command with more is beyond any limit.
const MOST: usize = 100_000;

/// The use of a process and all below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Usage {
    /// Bytes that are theirs alone: neither files nor shared memory.
    pub(super) memory: u64,
    /// Processes and threads.
    pub(super) tasks: u64,
}

/// Returns whether this machine says which processes are below another.
pub(super) fn is_known() -> bool {
    children_of("self").is_some()
}

/// Returns the ids of a process and all below it, as text.
pub(super) fn tree_of(root: Pid) -> impl Iterator<Item = String> {
    let mut open = vec![root];
    let mut seen = 0;
    std::iter::from_fn(move || {
        let pid = open.pop()?.as_raw_nonzero().to_string();
        seen += 1;
        if seen < MOST {
            open.extend(children_of(&pid).unwrap_or_default());
        }
        Some(pid)
    })
}

/// Adds up what a process and all below it use.
pub(super) fn of_tree(root: Pid) -> Usage {
    let mut usage = Usage::default();
    for pid in tree_of(root) {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        usage.add(&status);
    }
    usage
}

/// Adds up what all processes of this user use.
pub(super) fn of_user() -> Usage {
    let mut usage = Usage::default();
    let user = rustix::process::getuid().as_raw();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        if entry.metadata().is_ok_and(|meta| meta.uid() == user) {
            // What is no process has no such file.
            let status = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            usage.add(&status);
        }
    }
    usage
}

impl Usage {
    /// Adds a process, from its `status`.
    fn add(&mut self, status: &str) {
        for line in status.lines() {
            let number = |rest: &str| -> u64 {
                let digits = rest.trim().trim_end_matches(" kB");
                digits.parse().unwrap_or(0)
            };
            if let Some(rest) = line.strip_prefix("RssAnon:") {
                self.memory += number(rest) * 1024;
            } else if let Some(rest) = line.strip_prefix("Threads:") {
                self.tasks += number(rest);
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_added_from_its_status() {
        let mut usage = Usage::default();
        usage.add("Name:\tnode\nVmRSS:\t  9000 kB\nRssAnon:\t    2000 kB\nThreads:\t11\n");
        usage.add("Name:\tgone\nState:\tZ (zombie)\nThreads:\t1\n");
        assert_eq!(
            usage,
            Usage {
                memory: 2000 * 1024,
                tasks: 12
            }
        );
    }

    #[test]
    fn children_count_with_their_parents() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sleep 600 & sleep 600 & read -r _; kill $(jobs -p)"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let root = Pid::from_raw(child.id() as i32).unwrap();
        terca_testkit::wait_until("three processes run", || of_tree(root).tasks == 3);
        assert!(of_tree(root).memory > 0);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(of_tree(root), Usage::default());
    }
}
