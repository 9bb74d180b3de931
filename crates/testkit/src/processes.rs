//! Which processes of a test are still there.

use camino::Utf8Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub command: String,
}

impl Process {
    fn of(pid: i32) -> Self {
        Process {
            pid,
            command: command_line(pid),
        }
    }

    /// Whether it runs a program whose name begins so.
    pub(crate) fn runs(&self, name: &str) -> bool {
        let exe = std::fs::read_link(format!("/proc/{}/exe", self.pid)).unwrap_or_default();
        let file = exe.file_name().and_then(|name| name.to_str());
        file.is_some_and(|file| file.starts_with(name))
    }
}

/// Every live process that works below a directory or has it in its environment. Daemons that changed their
/// directory and session still carry the environment they were started with.
pub(crate) fn processes_below(root: &Utf8Path) -> Vec<Process> {
    let own = std::process::id() as i32;
    all()
        .filter(|pid| *pid != own && belongs_to(*pid, root) && !is_zombie(*pid))
        .map(Process::of)
        .collect()
}

/// Every live process below another one, parents before their children.
pub(crate) fn descendants_of(root: i32) -> Vec<Process> {
    let parents: Vec<(i32, i32)> = all()
        .filter_map(|pid| Some((pid, parent_of(pid)?)))
        .collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let children = parents.iter().filter(|(_, its)| *its == parent);
        found.extend(children.map(|(pid, _)| *pid));
        next += 1;
    }
    found
        .into_iter()
        .skip(1)
        .filter(|pid| !is_zombie(*pid))
        .map(Process::of)
        .collect()
}

fn all() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
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
