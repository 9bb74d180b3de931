//! The events as they are, one JSON document per line, for programs that watch a run.
//!
//! An agent may report progress hundreds of times a second; of each trial at most two reports a second are
//! passed on. All other events are.

use std::collections::HashMap;
use std::io::Write;

use jiff::{SignedDuration, Timestamp};
use terca_core::run::event::{Event, EventKind};
use terca_core::run::observer::Observer;
use terca_core::run::state::RunState;

use crate::term::painter::send;

const BETWEEN_REPORTS: SignedDuration = SignedDuration::from_millis(500);

#[derive(Debug)]
pub struct JsonLines<W: Write> {
    out: W,
    /// The time at which progress of a trial was last written.
    reported: HashMap<u32, Timestamp>,
    closed: bool,
}

impl<W: Write> JsonLines<W> {
    pub fn new(out: W) -> Self {
        JsonLines {
            out,
            reported: HashMap::new(),
            closed: false,
        }
    }

    fn is_due(&mut self, event: &Event) -> bool {
        let at = event.at;
        match &event.kind {
            EventKind::Progress { trial, .. } => {
                let is_early =
                    |then: &Timestamp| at >= *then && at.duration_since(*then) < BETWEEN_REPORTS;
                let is_due = !self.reported.get(trial).is_some_and(is_early);
                if is_due {
                    self.reported.insert(*trial, at);
                }
                is_due
            }
            EventKind::TrialFinished { trial, .. } => {
                self.reported.remove(trial);
                true
            }
            _ => true,
        }
    }

    fn write(&mut self, event: &Event) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        send(&mut self.out, &line)
    }
}

impl<W: Write> Observer for JsonLines<W> {
    fn event(&mut self, event: &Event, _: &RunState) {
        if !self.closed && self.is_due(event) {
            self.closed = self.write(event).is_err();
        }
    }

    fn tick(&mut self, _: Timestamp, _: &RunState) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use terca_core::run::event::RunStatus;

    fn shown(script: &Script) -> Vec<Event> {
        let mut out = Vec::new();
        script.play(&mut JsonLines::new(&mut out));
        assert_eq!(out.last(), Some(&b'\n'));
        out.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    #[test]
    fn every_event_comes_back_as_it_was() {
        let mut script = Script::new(fixture::heads(2, 1, 1), 2);
        script
            .start(1)
            .doing(1, "one\ntwo", 5)
            .finish(1, &fixture::interrupted(3.5))
            .end(RunStatus::Complete);
        assert_eq!(shown(&script), script.events);
    }

    #[test]
    fn a_flood_of_progress_is_thinned_for_each_trial() {
        let mut script = Script::new(fixture::heads(2, 1, 1), 2);
        script.start(1).start(2);
        for step in 0..100 {
            script
                .doing(1, &format!("step {step}"), step)
                .doing(2, "other", step)
                .pass(0.1);
        }
        let of = |trial: u32| {
            let is_its = |event: &&Event| matches!(event.kind, EventKind::Progress { trial: id, .. } if id == trial);
            shown(&script).iter().filter(is_its).count()
        };
        // Ten seconds.
        assert_eq!((of(1), of(2)), (20, 20));
    }
}
