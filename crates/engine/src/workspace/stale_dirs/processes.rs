//! The processes of a trial that nobody looks after any more.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal, kill_process};

/// Ends the processes of trials in a directory, until there is none.
pub(super) fn end_all(dir: &Utf8Path) {
    const ROUNDS: usize = 100;
    for _ in 0..ROUNDS {
        let found = belonging_to(dir);
        if found.is_empty() {
            return;
        }
        for pid in found {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The session of a process whose leader is outside of this process namespace.
const LED_FROM_OUTSIDE: i32 = 0;

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    parent: i32,
    session: i32,
    /// Its home or its directory for temporary files is in the directory, as of every process of a trial that has not
    /// changed them.
    is_marked: bool,
}

fn belonging_to(dir: &Utf8Path) -> Vec<Pid> {
    let inside = format!("{dir}/");
    let Ok(entries) = Utf8PathBuf::from("/proc").read_dir_utf8() else {
        return Vec::new();
    };
    let processes: HashMap<i32, Process> = entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().parse().ok()?;
            Some((pid, Process::read(entry.path(), &inside)?))
        })
        .collect();
    let own = std::process::id().cast_signed();
    let doomed = doomed(&processes, own);
    doomed.into_iter().filter_map(Pid::from_raw).collect()
}

/// Returns the processes with marks, everything below them, and everything in a session that such a process leads or
/// whose leader, once a supervisor, is gone.
///
/// A directory to work in is no mark: it may be the shell of a person who looks at what was left. Such a person's
/// session has a leader that lives and has no mark. A session that Terca itself or one of its ancestors is in never
/// counts, with or without a leader, because it is not a trial's: Terca may run under `nohup`, or in a container whose
/// sessions are led from outside.
fn doomed(processes: &HashMap<i32, Process>, own: i32) -> HashSet<i32> {
    let spared = ancestors(processes, own);
    let spared_sessions: HashSet<i32> = spared
        .iter()
        .filter_map(|pid| processes.get(pid))
        .map(|process| process.session)
        .chain([LED_FROM_OUTSIDE])
        .collect();
    let mut doomed: HashSet<i32> = processes
        .iter()
        .filter(|(_, process)| process.is_marked)
        .map(|(pid, _)| *pid)
        .collect();
    loop {
        let sessions: HashSet<i32> = doomed
            .iter()
            .map(|pid| processes[pid].session)
            .filter(|session| !spared_sessions.contains(session))
            .filter(|leader| doomed.contains(leader) || !processes.contains_key(leader))
            .collect();
        let more: Vec<i32> = processes
            .iter()
            .filter(|(pid, process)| {
                !doomed.contains(pid)
                    && (doomed.contains(&process.parent) || sessions.contains(&process.session))
            })
            .map(|(pid, _)| *pid)
            .collect();
        if more.is_empty() {
            break;
        }
        doomed.extend(more);
    }
    doomed.retain(|pid| !spared.contains(pid));
    doomed
}

/// Returns a process and all that it descends from.
fn ancestors(processes: &HashMap<i32, Process>, own: i32) -> HashSet<i32> {
    let mut found = HashSet::new();
    let mut next = own;
    while found.insert(next)
        && let Some(process) = processes.get(&next)
    {
        next = process.parent;
    }
    found
}

impl Process {
    /// Reads what is known of a process. `None` for one that has ended and waits for its parent.
    fn read(dir: &Utf8Path, inside: &str) -> Option<Self> {
        let stat = std::fs::read_to_string(dir.join("stat")).ok()?;
        // The name comes first, in brackets, and may hold any text.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        if fields.next()?.starts_with(['Z', 'X']) {
            return None;
        }
        let parent = fields.next()?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        let environment = std::fs::read(dir.join("environ")).unwrap_or_default();
        Some(Process {
            parent,
            session,
            is_marked: has_mark(&environment, inside),
        })
    }
}

fn has_mark(environment: &[u8], inside: &str) -> bool {
    environment.split(|byte| *byte == 0).any(|variable| {
        let value = variable
            .strip_prefix(b"HOME=")
            .or_else(|| variable.strip_prefix(b"TMPDIR="));
        value.is_some_and(|value| value.starts_with(inside.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(parent: i32, session: i32, is_marked: bool) -> Process {
        Process {
            parent,
            session,
            is_marked,
        }
    }

    #[test]
    fn marks_descend_and_spread_in_sessions_of_trials_alone() {
        let processes = HashMap::from([
            (1, process(0, 1, false)),
            // A person's shell, a shell with a trial's home that was started from it, and another program of theirs.
            (10, process(1, 10, false)),
            (11, process(10, 10, true)),
            (12, process(10, 10, false)),
            // An agent whose supervisor, the leader of its session, is gone; and what cleaned its environment.
            (20, process(1, 19, true)),
            (21, process(1, 19, false)),
            (22, process(20, 22, false)),
            (23, process(1, 22, false)),
            // Terca, started from a shell with a trial's home.
            (30, process(11, 10, true)),
        ]);
        let mut doomed: Vec<i32> = doomed(&processes, 30).into_iter().collect();
        doomed.sort_unstable();
        assert_eq!(doomed, [20, 21, 22, 23]);
    }

    #[test]
    fn a_session_that_terca_is_in_is_no_trials_even_if_its_leader_is_gone() {
        for session in [0, 9] {
            let processes = HashMap::from([
                (1, process(0, 1, false)),
                // Another program, a process with a mark and its child, and Terca: all in one session.
                (10, process(1, session, false)),
                (11, process(1, session, true)),
                (12, process(11, session, false)),
                (20, process(1, session, false)),
            ]);
            let mut doomed: Vec<i32> = doomed(&processes, 20).into_iter().collect();
            doomed.sort_unstable();
            assert_eq!(doomed, [11, 12], "session {session}");
        }
    }

    #[test]
    fn a_session_led_from_outside_is_no_trials() {
        let processes = HashMap::from([
            (1, process(0, 1, false)),
            (10, process(1, 0, false)),
            (11, process(1, 0, true)),
            (20, process(1, 20, false)),
        ]);
        assert_eq!(doomed(&processes, 20), HashSet::from([11]));
    }

    #[test]
    fn marks_are_values_of_two_variables() {
        let inside = "/var/tmp/terca-0/run-1/";
        for (environment, expected) in [
            (&b"A=1\0HOME=/var/tmp/terca-0/run-1/t/x/home\0"[..], true),
            (b"TMPDIR=/var/tmp/terca-0/run-1/t/x/tmp", true),
            (b"HOME=/var/tmp/terca-0/run-12/home", false),
            (b"PWD=/var/tmp/terca-0/run-1/t/x/workspace", false),
            (b"", false),
        ] {
            assert_eq!(has_mark(environment, inside), expected);
        }
    }
}
