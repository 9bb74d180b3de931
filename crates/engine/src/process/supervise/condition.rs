//! What a program can do to its parent, and what that parent hands on to its next child.

/// Limits, priorities and the like of this process. A supervisor in which any of it has changed is not used for
/// another trial.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Condition {
    limits: String,
    oom_score: String,
    group: String,
    status: Vec<String>,
    nice: i32,
}

/// The lines of `/proc/self/status` that are handed on.
const HANDED_ON: [&str; 7] = [
    "Umask:",
    "TracerPid:",
    "SigIgn:",
    "NoNewPrivs:",
    "Seccomp:",
    "Cpus_allowed:",
    "Mems_allowed:",
];

impl Condition {
    /// `None` where the system does not tell.
    pub(super) fn now() -> Option<Self> {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).ok();
        let handed_on = |line: &&str| HANDED_ON.iter().any(|start| line.starts_with(start));
        Some(Condition {
            limits: read("limits")?,
            oom_score: read("oom_score_adj")?,
            group: read("cgroup")?,
            status: read("status")?
                .lines()
                .filter(handed_on)
                .map(str::to_owned)
                .collect(),
            nice: rustix::process::getpriority_process(None).ok()?,
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_same_until_somebody_changes_it() {
        let before = Condition::now().unwrap();
        assert_eq!(Condition::now().unwrap(), before);
        assert_eq!(before.status.len(), HANDED_ON.len(), "{:?}", before.status);
        let changed = Condition {
            oom_score: "500\n".into(),
            ..Condition::now().unwrap()
        };
        assert_ne!(changed, before);
    }
}
