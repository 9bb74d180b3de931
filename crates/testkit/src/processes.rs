//! Which processes of a test are still there.

use camino::Utf8Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub command: String,
}

/// Every live process that works below a directory or has it in its environment. Daemons that changed their
/// directory and session still carry the environment they were started with.
pub(crate) fn processes_below(root: &Utf8Path) -> Vec<Process> {
    let own = std::process::id() as i32;
    std::fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| *pid != own && belongs_to(*pid, root) && !is_zombie(*pid))
        .map(|pid| Process {
            pid,
            command: command_line(pid),
        })
        .collect()
}

fn belongs_to(pid: i32, root: &Utf8Path) -> bool {
    let directory =
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(root));
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    directory || String::from_utf8_lossy(&environment).contains(root.as_str())
}

/// Ended, and waiting for its parent to notice.
fn is_zombie(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

fn command_line(pid: i32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}
