//! The limit of open files, and the number of trials that it is enough for.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The files that Terca always has open: the journal, the terminal, pipes, a directory being read.
const FOR_TERCA: u64 = 32;
/// The most files that a trial has open: its supervisor, its log, its output, and the directories on the way down two
/// trees that are being copied or compared.
const FOR_A_TRIAL: u64 = 32;

/// The limit that Terca was started with. The programs that it runs get the same.
static AT_START: OnceLock<Option<u64>> = OnceLock::new();

/// Returns the limit that Terca was started with.
pub(crate) fn limit_at_start() -> Option<u64> {
    *AT_START.get_or_init(|| getrlimit(Resource::Nofile).current)
}

/// Raises the limit for this many trials at once. Returns the number of trials that it is enough for.
pub fn make_room_for(trials: usize) -> usize {
    let needed = FOR_TERCA.saturating_add(FOR_A_TRIAL.saturating_mul(trials as u64));
    let at_start = limit_at_start();
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let mut allowed = at_start;
    if at_start.is_some_and(|limit| limit < needed) {
        let raised = maximum.map_or(needed, |maximum| maximum.min(needed));
        if setrlimit(
            Resource::Nofile,
            Rlimit {
                current: Some(raised),
                maximum,
            },
        )
        .is_ok()
        {
            allowed = Some(raised);
        }
    }
    match allowed {
        Some(limit) if limit < needed => {
            let room = limit.saturating_sub(FOR_TERCA) / FOR_A_TRIAL;
            usize::try_from(room)
                .unwrap_or(usize::MAX)
                .clamp(1, trials.max(1))
        }
        _ => trials,
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
