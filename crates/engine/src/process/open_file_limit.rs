//! The limit of open files, and the number of trials that it is enough for.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The files that Terca always has open: the journal, the terminal, pipes, a directory being read.
const FOR_TERCA: u64 = 32;
/// The most files that a trial has open: its supervisor, its log, its output, and the directories on the way down two
/// trees that are being copied or compared.
const FOR_A_TRIAL: u64 = 32;
/// The files of a trial on another machine: its input and output, and those that are open while its files are unpacked.
const FOR_A_REMOTE_TRIAL: u64 = 12;

/// The limit that Terca was started with. The programs that it runs get the same.
static AT_START: OnceLock<Option<u64>> = OnceLock::new();

/// Returns the limit that Terca was started with.
pub(crate) fn limit_at_start() -> Option<u64> {
    *AT_START.get_or_init(|| getrlimit(Resource::Nofile).current)
}

/// Raises the limit for so many trials at once, on this machine and on others. Returns the number of trials that it is
/// enough for; those of this machine come first.
pub fn make_room_for(local: usize, remote: usize) -> usize {
    let of_local = FOR_A_TRIAL.saturating_mul(local as u64);
    let of_remote = FOR_A_REMOTE_TRIAL.saturating_mul(remote as u64);
    let needed = FOR_TERCA.saturating_add(of_local).saturating_add(of_remote);
    match raised_to(needed) {
        Some(limit) if limit < needed => {
            let room = limit.saturating_sub(FOR_TERCA);
            let local = (local as u64).min(room / FOR_A_TRIAL);
            let room = room - local * FOR_A_TRIAL;
            let remote = (remote as u64).min(room / FOR_A_REMOTE_TRIAL);
            usize::try_from(local + remote).unwrap_or(usize::MAX).max(1)
        }
        _ => local + remote,
    }
}

/// Raises the limit as far as is needed and allowed. Returns the limit; `None` where there is none.
fn raised_to(needed: u64) -> Option<u64> {
    let at_start = limit_at_start();
    if at_start.is_none_or(|limit| limit >= needed) {
        return at_start;
    }
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let current = Some(maximum.map_or(needed, |maximum| maximum.min(needed)));
    match setrlimit(Resource::Nofile, Rlimit { current, maximum }) {
        Ok(()) => current,
        Err(_) => at_start,
    }
}

/// Sets the limit of this process to the one that Terca was started with.
pub(crate) fn restore(limit: u64) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Lowering it again is always allowed.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(limit),
            maximum,
        },
    );
}
