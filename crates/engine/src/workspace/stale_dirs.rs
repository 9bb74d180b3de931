//! Work directories of runs that died: found by their locks, emptied of processes, removed.
//!
//! A run holds its directory locked for as long as it lives, and the kernel lets go of the lock when it dies,
//! however that happens. Age says nothing: a run may take days.

mod draft;
mod processes;

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;

use camino::Utf8Path;

use crate::process::cgroup;
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
    processes::end_all(path);
    let mut left = remove_cgroups(path);
    left.extend(remove_and_tell(path));
    left
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
