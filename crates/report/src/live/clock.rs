//! Times that are still growing.

use jiff::Timestamp;
use terca_core::text::prose;

/// The time at which the display is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// This moment.
    pub now: Timestamp,
    /// The start of the display, where that is not the start of the run: a resumed run has not gone on all night.
    pub since: Option<Timestamp>,
}

/// Returns the seconds from one time to another. Never negative: clocks are set back now and then.
pub fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}

/// Returns a time in whole seconds: tenths would flicker.
pub fn growing(seconds: f64) -> String {
    let whole = seconds.floor();
    if whole < 60.0 {
        format!("{whole:.0}s")
    } else {
        prose::duration(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_times_do_not_flicker() {
        assert_eq!(
            [0.4, 9.96, 59.9, 65.2].map(growing),
            ["0s", "9s", "59s", "1m 05s"]
        );
    }
}
