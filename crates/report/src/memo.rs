//! What a display remembers, so that drawing does not walk all trials.
//!
//! A run may have thousands of trials and is drawn ten times a second: the names are looked at once, and what trials
//! take and use is kept as sums.

use jiff::Timestamp;
use terca_core::run::event::{Event, EventKind};
use terca_core::run::outcome::TrialReport;
use terca_core::run::state::RunState;

use crate::names::Names;
use crate::pace::Pace;
use crate::spent::Spent;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memo {
    pub names: Names,
    pub pace: Pace,
    /// Of trials that ended, with the attempts before: they were paid for too.
    pub spent: Spent,
    /// Whether any agent has reported tokens; else there is no column for them.
    pub tokens: bool,
    /// When the display began, where that is not when the run did: a resumed run has not gone on all night.
    pub since: Option<Timestamp>,
}

impl Memo {
    /// From scratch, also for a run that is already going on.
    pub fn of(state: &RunState) -> Self {
        let heads = state
            .trials
            .iter()
            .map(|trial| &trial.head)
            .chain(&state.spare);
        let mut memo = Memo {
            names: Names::of(heads),
            pace: Pace::of(state),
            ..Memo::default()
        };
        for trial in &state.trials {
            trial
                .earlier
                .iter()
                .for_each(|attempt| memo.spent.add(&attempt.stats.usage));
            memo.report(&trial.report);
            memo.tokens |= trial
                .live
                .as_ref()
                .is_some_and(|live| live.usage.tokens().is_some());
        }
        memo
    }

    /// Keeps up with an event that the state knows of already.
    pub fn note(&mut self, event: &Event, state: &RunState) {
        self.pace.note(event, state);
        match &event.kind {
            EventKind::TrialFinished { report, .. } => self.report(report),
            EventKind::AttemptFailed { report, .. } => self.spent.add(&report.stats.usage),
            EventKind::Progress { usage, .. } => self.tokens |= usage.tokens().is_some(),
            _ => {}
        }
    }

    fn report(&mut self, report: &TrialReport) {
        if report.status.is_judged() {
            self.spent.add_judged(&report.stats);
        } else {
            self.spent.add(&report.stats.usage);
        }
        self.tokens |= self.spent.tokens.is_some();
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
    fn keeping_up_is_the_same_as_looking_anew() {
        let mut script = Script::new(fixture::heads(2, 2, 2), 2);
        let mut kept = Memo::of(&script.state);
        let mut state = script.state.clone();
        let before = script.events.len();
        script
            .start(1)
            .start(2)
            .finish(1, &fixture::passed(20.0))
            .finish(2, &fixture::interrupted(3.0));
        script.start(3).doing(3, "npm test", 12);
        script.add(EventKind::AttemptFailed {
            trial: 3,
            report: Box::new(fixture::passed(5.0)),
            wait_seconds: 1.0,
        });
        for event in &script.events[before..] {
            state.apply(event);
            kept.note(event, &state);
        }
        assert_eq!(kept, Memo::of(&script.state));
        assert!(kept.tokens);
    }
}
