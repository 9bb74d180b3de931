//! Waiting for something to come about, by looking again and again.

use std::time::{Duration, Instant};

/// Longer than anything a test waits for on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(10);

/// Looks until there is something, and returns it.
///
/// # Panics
/// When it does not come; `what` says what was waited for, and what there was instead.
#[track_caller]
pub(crate) fn wait_for<T>(what: impl Fn() -> String, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{}", what());
        std::thread::sleep(PAUSE);
    }
}

/// Waits until something has come about.
///
/// # Panics
/// When it does not; `what` names it.
#[track_caller]
pub fn wait_until(what: &str, mut come_about: impl FnMut() -> bool) {
    wait_for(
        || format!("{what}: not within {PATIENCE:?}"),
        || come_about().then_some(()),
    );
}
