//! How many files may be open at once, and how many trials that is enough for.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What Terca has open whatever it does: the journal, the terminal, pipes, a directory being read.
const FOR_TERCA: u64 = 32;
/// What a trial has open at most: its supervisor, its log, its output, the files being copied or compared.
const FOR_A_TRIAL: u64 = 12;

/// The limit that Terca was started with. What it runs is to have the same.
static AT_START: OnceLock<Option<u64>> = OnceLock::new();

pub(crate) fn limit_at_start() -> Option<u64> {
    *AT_START.get_or_init(|| getrlimit(Resource::Nofile).current)
}

/// Makes room for so many trials at once. Returns how many there is room for.
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

/// Gives a process that Terca has started the limit that Terca itself was given.
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
