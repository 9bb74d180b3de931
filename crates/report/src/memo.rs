//! What a display remembers, so that drawing does not walk all trials.
//!
//! A run may have thousands of trials and is drawn ten times a second: the names are looked at once, and how long
//! trials take is kept as a sum.

use jiff::Timestamp;
use terca_core::event::{Event, EventKind};
use terca_core::outcome::{Status, TrialReport};
use terca_core::state::RunState;

use crate::names::Names;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memo {
    pub names: Names,
    pub pace: Pace,
    /// Whether any agent has reported tokens; else there is no column for them.
    pub tokens: bool,
}

impl Memo {
    /// From scratch, also for a run that is already going on.
    pub fn of(state: &RunState) -> Self {
        let heads = state.trials.iter().map(|trial| &trial.head).chain(&state.spare);
        let mut memo = Memo { names: Names::of(heads), ..Memo::default() };
        for trial in &state.trials {
            memo.report(&trial.report);
            memo.tokens |= trial.live.as_ref().is_some_and(|live| live.usage.tokens().is_some());
        }
        memo
    }

    /// Keeps up with an event.
    pub fn note(&mut self, event: &Event) {
        match &event.kind {
            EventKind::TrialFinished { report, .. } => self.report(report),
            EventKind::Progress { usage, .. } => self.tokens |= usage.tokens().is_some(),
            _ => {}
        }
    }

    fn report(&mut self, report: &TrialReport) {
        self.tokens |= report.stats.usage.tokens().is_some();
        // A trial that was cut short says nothing about how long trials take.
        if !matches!(report.status, Status::Pending | Status::Interrupted) {
            self.pace.finished += 1;
            self.pace.seconds += report.duration_seconds;
        }
    }
}

/// How long trials have taken so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pace {
    finished: usize,
    seconds: f64,
}

impl Pace {
    /// The seconds until the run is done, if every trial takes as long as the mean of those finished. Unknown until
    /// one is, and when what is in flight has already taken longer and nothing waits.
    pub fn seconds_left(&self, state: &RunState, now: Timestamp) -> Option<f64> {
        if self.finished == 0 {
            return None;
        }
        let mean = self.seconds / self.finished as f64;
        let in_flight: Vec<f64> = state
            .in_flight
            .iter()
            .filter_map(|index| state.trials.get(*index)?.live.as_ref())
            .map(|live| (mean - seconds_between(live.since, now)).max(0.0))
            .collect();
        let waiting = state.counts.total.saturating_sub(state.counts.finished() + in_flight.len());
        let work = mean * waiting as f64 + in_flight.iter().sum::<f64>();
        let longest = in_flight.iter().copied().fold(0.0, f64::max);
        // No more trials than there are can share the work, and the last one has to end.
        let lanes = state.concurrency.min(waiting + in_flight.len()).max(1);
        let left = (work / lanes as f64).max(longest);
        (left >= 1.0).then_some(left)
    }
}

/// Never negative: clocks are set back now and then.
pub fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};

    #[test]
    fn the_estimate_is_the_mean_over_what_is_left() {
        // Ten trials of 20 s, two at a time.
        let mut script = Script::new(fixture::heads(10, 1, 1), 2);
        script.start(1).start(2).pass(20.0);
        script.finish(1, &fixture::passed(20.0));
        // One in flight for 20 s (so due now), eight waiting: 160 s of work for two.
        assert_eq!(estimate(&script), Some(80.0));
        script.start(3).pass(5.0);
        // Seven waiting, one due, one with 15 s to go.
        assert_eq!(estimate(&script), Some(77.5));
    }

    #[test]
    fn there_is_no_estimate_without_ground() {
        let mut script = Script::new(fixture::heads(2, 1, 1), 2);
        script.start(1).start(2).pass(5.0);
        assert_eq!(estimate(&script), None, "nothing finished");
        script.finish(1, &fixture::interrupted(1.0));
        assert_eq!(estimate(&script), None, "what was cut short does not count");
        let mut script = Script::new(fixture::heads(2, 1, 1), 2);
        script.start(1).start(2).pass(5.0);
        script.finish(1, &fixture::passed(5.0)).pass(60.0);
        assert_eq!(estimate(&script), None, "overdue");
    }

    #[test]
    fn the_last_trial_is_waited_for() {
        // Concurrency does not make one trial faster.
        let mut script = Script::new(fixture::heads(9, 1, 1), 8);
        for id in 1..=8 {
            script.start(id);
        }
        script.pass(40.0);
        for id in 1..=8 {
            script.finish(id, &fixture::passed(40.0));
        }
        script.start(9).pass(10.0);
        assert_eq!(estimate(&script), Some(30.0));
        // Nor does one that is nearly done help one that has just begun.
        let mut script = Script::new(fixture::heads(3, 1, 1), 2);
        script.start(1).start(2).pass(40.0);
        script.finish(1, &fixture::passed(40.0)).start(3);
        assert_eq!(estimate(&script), Some(40.0));
    }

    #[test]
    fn keeping_up_is_the_same_as_looking_anew() {
        let mut script = Script::new(fixture::heads(2, 2, 2), 2);
        let mut kept = Memo::of(&script.state);
        let before = script.events.len();
        script.start(1).start(2).finish(1, &fixture::passed(20.0)).finish(2, &fixture::interrupted(3.0));
        for event in &script.events[before..] {
            kept.note(event);
        }
        assert_eq!(kept, Memo::of(&script.state));
        assert!(kept.tokens);
    }

    fn estimate(script: &Script) -> Option<f64> {
        Memo::of(&script.state).pace.seconds_left(&script.state, script.now)
    }
}
