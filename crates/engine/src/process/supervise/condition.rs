//! The properties of a process that its children can change and that its next children inherit.

use std::io::Read;

/// The limits, priorities and the like of this process. A supervisor in which any of them has changed is not used
/// for another trial.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Condition {
    limits: String,
    oom_score: String,
    group: String,
    status: Vec<String>,
    nice: i32,
}

/// The lines of `/proc/self/status` with properties that are inherited.
const INHERITED: [&str; 7] = [
    "Umask:", "TracerPid:", "SigIgn:", "NoNewPrivs:", "Seccomp:", "Cpus_allowed:", "Mems_allowed:",
];

impl Condition {
    /// Reads the condition of this process. `None` where the system does not have it.
    pub(super) fn now() -> Option<Self> {
        Some(Condition {
            limits: read("limits")?,
            oom_score: read("oom_score_adj")?,
            group: read("cgroup")?,
            status: read("status")?
                .lines()
                .filter(|line| INHERITED.iter().any(|start| line.starts_with(start)))
                .map(str::to_owned)
                .collect(),
            nice: rustix::process::getpriority_process(None).ok()?,
        })
    }
}

fn read(name: &str) -> Option<String> {
    // The kernel writes the whole text anew for each piece that is read.
    let mut text = String::with_capacity(8 * 1024);
    let file = std::fs::File::open(format!("/proc/self/{name}"));
    file.ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_same_until_somebody_changes_it() {
        let before = Condition::now().unwrap();
        assert_eq!(Condition::now().unwrap(), before);
        assert_eq!(before.status.len(), INHERITED.len(), "{:?}", before.status);
        let changed = Condition {
            oom_score: "500\n".into(),
            ..Condition::now().unwrap()
        };
        assert_ne!(changed, before);
    }
}
