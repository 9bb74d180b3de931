//! Work directories of runs that died: found by their locks, emptied of processes, removed.
//!
//! A run holds its directory locked for as long as it lives, and the kernel lets go of the lock when it dies,
//! however that happens. Age says nothing: a run may take days.

use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal, kill_process};

use crate::workspace::tree;

/// The names of work directories: this and eight digits.
pub(crate) const NAME: &str = "run-";
/// A directory has this name until it is locked, so that nobody takes it for a dead run's.
const DRAFT: &str = ".new-";

/// A directory that nobody else can look into.
pub(crate) fn private_dir(path: &Utf8Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// A directory that is being made: locked, under a name that nobody takes for a finished one. Removed with the
/// value, unless it was published.
#[derive(Debug)]
pub(crate) struct Draft {
    path: Utf8PathBuf,
    /// Where directories cannot be locked, what a dead run leaves stays; that is all.
    lock: Option<File>,
    published: bool,
}

impl Draft {
    pub(crate) fn create(parent: &Utf8Path) -> io::Result<Self> {
        let path = parent.join(format!("{DRAFT}{:08x}", fastrand::u32(..)));
        private_dir(&path)?;
        let lock = File::open(&path)?;
        let lock = lock.try_lock().is_ok().then_some(lock);
        Ok(Draft {
            path,
            lock,
            published: false,
        })
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Gives it its name. The lock stays with whoever gets it.
    pub(crate) fn publish(mut self, place: &Utf8Path) -> io::Result<Option<File>> {
        std::fs::rename(&self.path, place)?;
        self.published = true;
        Ok(self.lock.take())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published {
            let _ = tree::remove(&self.path);
        }
    }
}

/// Removes the drafts of programs that died.
pub(crate) fn remove_drafts(parent: &Utf8Path) {
    let Ok(entries) = parent.read_dir_utf8() else {
        return;
    };
    for entry in entries
        .flatten()
        .filter(|entry| entry.file_name().starts_with(DRAFT))
    {
        if is_ours(entry.file_name(), entry.path()) {
            remove_unlocked(entry.path());
        }
    }
}

fn remove_unlocked(path: &Utf8Path) {
    let Ok(lock) = File::open(path) else { return };
    if lock.try_lock().is_ok() {
        end_processes(path);
        let _ = tree::remove(path);
    }
}

/// Removes what dead runs have left in `parent`, and ends what still runs there. Whatever cannot be removed stays:
/// it must not keep a new run from starting.
pub(crate) fn remove_all(parent: &Utf8Path) {
    let Ok(entries) = parent.read_dir_utf8() else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if !is_ours(entry.file_name(), path) {
            continue;
        }
        remove_unlocked(path);
    }
}

fn is_ours(name: &str, path: &Utf8Path) -> bool {
    let Ok(meta) = path.symlink_metadata() else {
        return false;
    };
    let is_private = meta.is_dir()
        && meta.uid() == rustix::process::getuid().as_raw()
        && meta.mode() & 0o077 == 0;
    let digits = |name: &str| name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if name.strip_prefix(DRAFT).is_some_and(digits) {
        // It may be about to be locked.
        let age = meta.modified().ok().and_then(|time| time.elapsed().ok());
        return is_private && age.is_some_and(|age| age > Duration::from_secs(60));
    }
    is_private && name.strip_prefix(NAME).is_some_and(digits)
}

/// Ends every process that works in the directory or has its home there, until there is none.
fn end_processes(dir: &Utf8Path) {
    const ROUNDS: usize = 100;
    for _ in 0..ROUNDS {
        let found = processes_of(dir);
        if found.is_empty() {
            return;
        }
        for pid in found {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn processes_of(dir: &Utf8Path) -> Vec<Pid> {
    let inside = format!("{dir}/");
    let Ok(processes) = Utf8PathBuf::from("/proc").read_dir_utf8() else {
        return Vec::new();
    };
    processes
        .flatten()
        .filter_map(|entry| {
            let pid = Pid::from_raw(entry.file_name().parse().ok()?)?;
            (is_in(entry.path(), &inside) && !is_dead(entry.path())).then_some(pid)
        })
        .collect()
}

/// `HOME` and `TMPDIR` are the marks that every process of a trial carries, unless it has put them off.
fn is_in(process: &Utf8Path, inside: &str) -> bool {
    let works_there = process
        .join("cwd")
        .read_link_utf8()
        .is_ok_and(|cwd| cwd.as_str().starts_with(inside));
    works_there
        || std::fs::read(process.join("environ")).is_ok_and(|environment| {
            environment.split(|byte| *byte == 0).any(|variable| {
                let value = variable
                    .strip_prefix(b"HOME=")
                    .or_else(|| variable.strip_prefix(b"TMPDIR="));
                value.is_some_and(|value| value.starts_with(inside.as_bytes()))
            })
        })
}

/// Waiting for its parent to take note.
fn is_dead(process: &Utf8Path) -> bool {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}
