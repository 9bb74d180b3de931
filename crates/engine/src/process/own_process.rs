//! What Terca and its supervisors do for themselves before anything else.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use camino::Utf8Path;
use rustix::process::{Pid, getpgid, getpgrp, getppid, getsid};
use signal_hook::consts::{SIGCHLD, SIGXFSZ};
use terca_core::process::Exit;

/// The first file that is none of input, output and errors.
const FIRST_FILE: i32 = 3;

/// Makes this process safe from agents of the same user, and from the habits of its caller.
///
/// - Nobody but the superuser can read its environment, directory, open files or memory. Programs that it starts can
///   be read and debugged as usual.
/// - Files that its caller has left open are not inherited: an agent could read and write them from any sandbox.
/// - A caller that ignores SIGCHLD would keep it from hearing of the end of its children.
/// - A file that grows beyond `ulimit -f` is an error of the write, with a message, and not the end of the process.
///
/// Handlers are not inherited by the programs that it starts, as ignored signals are.
pub fn prepare() -> io::Result<()> {
    close_to_others();
    close_fds::CloseFdsBuilder::new().cloexecfrom(FIRST_FILE);
    if ignores(SIGCHLD) {
        handle(SIGCHLD)?;
    }
    handle(SIGXFSZ)
}

/// Returns the exit of a program that this process has waited for.
pub(crate) fn exit_of(status: ExitStatus) -> Exit {
    match status.signal() {
        Some(signal) => Exit::Signal(signal),
        None => Exit::Code(status.code().unwrap_or_default()),
    }
}

/// Keeps the program that is running, which may be replaced while the run goes on, under another name.
pub fn keep_program(place: &Utf8Path) -> io::Result<()> {
    let program = std::env::current_exe()?;
    if fs_err::hard_link(&program, place).is_ok() {
        return Ok(());
    }
    let own = Path::new("/proc/self/exe");
    fs_err::copy(if own.exists() { own } else { &program }, place)?;
    Ok(())
}

#[cfg(target_os = "linux")]
fn close_to_others() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // Cannot fail; without it agents may look at more than they were given.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

#[cfg(not(target_os = "linux"))]
fn close_to_others() {}

/// Tells whether no shell would continue this program when it is stopped: no process above its group is in its session.
pub fn is_orphaned() -> bool {
    let (group, session) = (getpgrp(), getsid(None).ok());
    let mut above = getppid();
    while let Some(process) = above {
        if getsid(Some(process)).ok() != session {
            return true;
        }
        if getpgid(Some(process)) != Ok(group) {
            return false;
        }
        let parent = state_and_parent(process.as_raw_nonzero().get());
        above = parent.and_then(|(_, parent)| Pid::from_raw(parent));
    }
    true
}

/// Returns the letter of a process' state and the number of its parent. `None` for one that is not there.
pub(crate) fn state_and_parent(process: i32) -> Option<(char, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The command's name is in brackets and may hold any text.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.parse().ok()?))
}

/// Gives a signal a handler that does nothing.
pub(super) fn handle(signal: i32) -> io::Result<()> {
    signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// Returns whether this process ignores a signal. `false` where there is no `/proc`.
pub(crate) fn ignores(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}
