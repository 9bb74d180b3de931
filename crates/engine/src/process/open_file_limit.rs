//! The limit of open files, and the number of trials that it is enough for.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The files that Terca always has open: the journal, the terminal, pipes, a directory being read.
const FOR_TERCA: u64 = 32;
/// The most files that a trial has open: its supervisor, its log, its output, and the directories on the way down two
/// trees that are being copied or compared.
const FOR_A_TRIAL: u64 = 32;
/// The files of a trial on a worker: the worker's input and output, and the trial's files on their way.
const FOR_A_WORKER: u64 = 3;
/// The number of trials whose files are unpacked at once. The others wait.
pub const UNPACKED_AT_ONCE: usize = 16;
/// The files that are open while one is unpacked.
const FOR_UNPACKING: u64 = 8;

/// The limit that Terca was started with. The programs that it runs get the same.
static AT_START: OnceLock<Option<u64>> = OnceLock::new();

/// Returns the limit that Terca was started with.
pub(crate) fn limit_at_start() -> Option<u64> {
    *AT_START.get_or_init(|| getrlimit(Resource::Nofile).current)
}

/// Raises the limit for so many trials at once, on this machine and on workers. Returns the number of trials that it is
/// enough for; those of this machine come first.
pub fn make_room_for(local: usize, on_workers: usize) -> usize {
    let always = match on_workers {
        0 => FOR_TERCA,
        _ => FOR_TERCA + FOR_UNPACKING * UNPACKED_AT_ONCE as u64,
    };
    let of_local = FOR_A_TRIAL.saturating_mul(local as u64);
    let of_workers = FOR_A_WORKER.saturating_mul(on_workers as u64);
    let needed = always.saturating_add(of_local).saturating_add(of_workers);
    match raised_to(needed) {
        Some(limit) if limit < needed => {
            let room = limit.saturating_sub(always);
            let local = (local as u64).min(room / FOR_A_TRIAL);
            let room = room - local * FOR_A_TRIAL;
            let on_workers = (on_workers as u64).min(room / FOR_A_WORKER);
            usize::try_from(local + on_workers)
                .unwrap_or(usize::MAX)
                .max(1)
        }
        _ => local + on_workers,
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
