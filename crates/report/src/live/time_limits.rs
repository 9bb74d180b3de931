//! Clocks of the display, the time limits of agents, and trials that come close to theirs.

use std::collections::BTreeMap;

use jiff::Timestamp;
use terca_core::run::event::Phase;
use terca_core::run::state::Live;
use terca_core::text::prose;

/// An agent is slow when it has used this share of its time.
const SLOW: f64 = 0.5;

/// The time limits of agents in seconds, by the ids of their trials.
#[derive(Debug, Clone, Default)]
pub struct TimeLimits(BTreeMap<u32, f64>);

impl FromIterator<(u32, f64)> for TimeLimits {
    fn from_iter<I: IntoIterator<Item = (u32, f64)>>(limits: I) -> Self {
        TimeLimits(limits.into_iter().collect())
    }
}

impl TimeLimits {
    /// `SLOW 2m 35s of 5m`, once an agent has used half of its time.
    pub(crate) fn slow(&self, trial: u32, live: &Live, now: Timestamp) -> Option<String> {
        let limit = *self.0.get(&trial)?;
        let seconds = seconds_between(live.phase_since, now);
        let is_slow = live.phase == Phase::Agent && seconds >= limit * SLOW;
        is_slow.then(|| format!("SLOW {} of {}", growing(seconds), whole(limit)))
    }
}

/// Returns a limit without the zeros at its end: `5m`, not `5m 00s`.
fn whole(seconds: f64) -> String {
    let text = prose::duration(seconds);
    text.strip_suffix(" 00s")
        .or_else(|| text.strip_suffix(" 00m"))
        .unwrap_or(&text)
        .to_owned()
}

/// The time at which the display is drawn.
#[derive(Clone, Copy)]
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
    use crate::fixture::{self, Script};

    #[test]
    fn an_agent_that_has_used_half_of_its_time_is_slow() {
        let mut script = Script::new(fixture::heads(1, 1, 1), 1);
        script.start(1).pass(100.0).phase(1, Phase::Agent);
        let limits: TimeLimits = [(1, 300.0)].into_iter().collect();
        let slow = |script: &Script| {
            let trial = script.state.in_flight().next().unwrap();
            limits.slow(1, trial.live.as_ref().unwrap(), script.now)
        };
        script.pass(140.0);
        assert_eq!(slow(&script), None, "the time of set-up is not the agent's");
        script.pass(15.0);
        assert_eq!(slow(&script).unwrap(), "SLOW 2m 35s of 5m");
        script.phase(1, Phase::Tests);
        assert_eq!(slow(&script), None);
    }

    #[test]
    fn growing_times_do_not_flicker() {
        assert_eq!(
            [0.4, 9.96, 59.9, 65.2].map(growing),
            ["0s", "9s", "59s", "1m 05s"]
        );
    }
}
