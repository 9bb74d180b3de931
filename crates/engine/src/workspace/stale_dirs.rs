//! Work directories of runs that died: found by their locks, emptied of processes, removed.
//!
//! A run holds its directory locked for as long as it lives, and the kernel lets go of the lock when it dies,
//! however that happens. Age says nothing: a run may take days.

mod draft;

use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use camino::Utf8Path;
use rustix::process::{Pid, Signal, kill_process};

use crate::process::cgroup;
use crate::process::own_process::state_and_parent;
use crate::workspace::own_dirs::remove_and_tell;
pub(crate) use draft::Draft;

/// The names of work directories: this and eight digits.
pub(crate) const NAME: &str = "run-";
/// The file in a work directory with the places of the run's control groups.
pub(crate) const CGROUPS: &str = "cgroups";

/// Removes the drafts of programs that died.
pub(crate) fn remove_drafts(parent: &Utf8Path) {
    // What is left is in nobody's way.
    let _ = remove(parent, draft::is_old_draft);
}

/// Removes what dead runs have left in `parent`, and ends what still runs there. What cannot be removed stays, and is
/// returned in lines: it must not keep a new run from starting.
pub(crate) fn remove_all(parent: &Utf8Path) -> Vec<String> {
    remove(parent, |name, meta| {
        is_work_dir(name, meta) || draft::is_old_draft(name, meta)
    })
}

/// Removes the directories that are meant and that nobody has locked.
fn remove(parent: &Utf8Path, is_meant: impl Fn(&str, &Metadata) -> bool) -> Vec<String> {
    let mut left = Vec::new();
    let Ok(entries) = parent.read_dir_utf8() else {
        return left;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(meta) = path.symlink_metadata() else {
            continue;
        };
        if is_meant(entry.file_name(), &meta) {
            left.extend(remove_unlocked(path));
        }
    }
    left
}

fn remove_unlocked(path: &Utf8Path) -> Vec<String> {
    let Ok(lock) = File::open(path) else {
        return Vec::new();
    };
    if lock.try_lock().is_err() {
        return Vec::new();
    }
    end_processes(path);
    let mut left = remove_cgroups(path);
    left.extend(remove_and_tell(path));
    left
}

/// Ends the processes of trials in a directory, until there is none: their supervisors may have been killed with the run.
fn end_processes(dir: &Utf8Path) {
    const ROUNDS: usize = 100;
    for _ in 0..ROUNDS {
        let found = processes_of(dir);
        if found.is_empty() {
            return;
        }
        for pid in found.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the processes with marks and everything below them, but neither Terca itself nor what it was started from. A
/// directory to work in is no mark: it may be the shell of a person who looks at what was left.
fn processes_of(dir: &Utf8Path) -> Vec<i32> {
    let inside = format!("{dir}/");
    let mut parents: HashMap<i32, i32> = HashMap::new();
    let mut marked: HashSet<i32> = HashSet::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.parse().ok());
        let Some((pid, (state, parent))) = pid.and_then(|pid| Some((pid, state_and_parent(pid)?)))
        else {
            continue;
        };
        // One that has ended waits for its parent.
        if !"ZX".contains(state) {
            parents.insert(pid, parent);
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            marked.extend(has_mark(&environment, &inside).then_some(pid));
        }
    }
    // Processes come and go meanwhile: there may be no end.
    let line = |pid| std::iter::successors(Some(pid), |pid| parents.get(pid).copied()).take(1000);
    let spared: HashSet<i32> = line(std::process::id().cast_signed()).collect();
    marked.retain(|pid| !spared.contains(pid));
    let is_meant = |pid: &i32| !spared.contains(pid) && line(*pid).any(|pid| marked.contains(&pid));
    parents.keys().copied().filter(is_meant).collect()
}

/// Returns whether the home or the directory for temporary files is in a directory, as of every process of a trial that has
/// not changed them.
fn has_mark(environment: &[u8], inside: &str) -> bool {
    environment.split(|byte| *byte == 0).any(|variable| {
        let value = variable
            .strip_prefix(b"HOME=")
            .or_else(|| variable.strip_prefix(b"TMPDIR="));
        value.is_some_and(|value| value.starts_with(inside.as_bytes()))
    })
}

/// Removes the control groups of a dead run.
fn remove_cgroups(path: &Utf8Path) -> Vec<String> {
    let number = path.file_name().and_then(|name| name.strip_prefix(NAME));
    let list = std::fs::read_to_string(path.join(CGROUPS)).ok();
    match (number, list) {
        (Some(number), Some(list)) => cgroup::remove_left(&list, number),
        _ => Vec::new(),
    }
}

fn is_work_dir(name: &str, meta: &Metadata) -> bool {
    let is_private = meta.is_dir()
        && meta.uid() == rustix::process::getuid().as_raw()
        && meta.mode() & 0o077 == 0;
    is_private && name.strip_prefix(NAME).is_some_and(is_number)
}

/// Tells whether it is a number as Terca draws them for names: eight hexadecimal digits.
fn is_number(name: &str) -> bool {
    name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

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
