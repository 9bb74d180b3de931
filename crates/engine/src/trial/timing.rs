//! The times of a trial's stages.

use crate::process::pause::Stopwatch;

/// Runs a stage and notes how long it took.
pub(super) fn timed<T>(seconds: &mut Option<f64>, stage: impl FnOnce() -> T) -> T {
    let started = Stopwatch::start();
    let result = stage();
    *seconds = Some(rounded(started.elapsed().as_secs_f64()));
    result
}

/// Rounds to milliseconds: the time of a process cannot be measured more exactly.
pub(super) fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
