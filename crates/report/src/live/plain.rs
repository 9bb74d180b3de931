//! Plain lines, for logs and continuous integration: one when a trial ends, and one now and then while none does.

use std::io::Write;

use jiff::{SignedDuration, Timestamp};
use terca_core::run::event::{Event, EventKind};
use terca_core::run::observer::Observer;
use terca_core::run::state::RunState;

use crate::live::bar::so_far;
use crate::live::layout::Layout;
use crate::live::notices::{notice, particulars, title};

use crate::live::time_limits::{TimeLimits, growing, seconds_between};
use crate::live::trial_line;
use crate::names::Names;
use crate::term::painter::send;
use crate::term::{Palette, Role, StyledLine, UNLIMITED, dim, pad_left, width};

/// A line comes at least so often while trials are in flight.
const HEARTBEAT: SignedDuration = SignedDuration::from_secs(60);

#[derive(Debug)]
pub struct Plain<W: Write> {
    out: W,
    palette: Palette,
    names: Option<Names>,
    limits: TimeLimits,
    /// The time of the last line.
    told_at: Option<Timestamp>,
    /// Nobody reads any more. The run goes on: its results are on disk.
    closed: bool,
}

impl<W: Write> Plain<W> {
    pub fn new(out: W, palette: Palette) -> Self {
        Plain {
            out,
            palette,
            names: None,
            limits: TimeLimits::default(),
            told_at: None,
            closed: false,
        }
    }

    /// Tells which trials come close to these limits.
    pub fn with_limits(self, limits: TimeLimits) -> Self {
        Plain { limits, ..self }
    }

    /// Tells that the run goes on: how far it is, and which trial has been in flight for longest.
    fn heartbeat(&mut self, now: Timestamp, state: &RunState) {
        let in_flight = state.in_flight().len();
        let longest = state
            .in_flight()
            .filter_map(|trial| Some((trial, trial.live.as_ref()?)))
            .min_by_key(|(_, live)| live.since);
        let (Some(names), Some((trial, live))) = (&self.names, longest) else {
            return;
        };
        let mut text = format!(
            "{} · {in_flight} running, longest: {} {}",
            counter(state),
            names.trial(&trial.head),
            growing(seconds_between(live.since, now))
        );
        text.extend(live.on.iter().map(|node| format!(" on {node}")));
        let slow = self.limits.slow(trial.head.id, live, now);
        text.extend(slow.iter().map(|slow| format!(" ({slow})")));
        self.write(&dim(&text));
        self.told_at = Some(now);
    }

    fn trial_finished(&mut self, id: u32, state: &RunState) {
        let (Some(names), Some(trial)) = (&self.names, state.trial(id)) else {
            return;
        };
        let mut line = dim(&format!("{} ", counter(state)));
        let layout = Layout::new(names, state.reports_tokens(), UNLIMITED);
        line.append(trial_line::finished(
            &trial.head, &trial.report, names, &layout,
        ));
        self.write(&line);
    }

    fn write(&mut self, line: &StyledLine) {
        let text = line.render(self.palette) + "\n";
        self.closed = self.closed || send(&mut self.out, text.as_bytes()).is_err();
    }
}

/// `[ 3/40]`.
fn counter(state: &RunState) -> String {
    let counts = so_far(state);
    let total = counts.total.to_string();
    let finished = counts.finished().to_string();
    format!("[{}/{total}]", pad_left(&finished, width(&total)))
}

impl<W: Write> Observer for Plain<W> {
    fn event(&mut self, event: &Event, state: &RunState) {
        if self.names.is_none() || matches!(event.kind, EventKind::RunStarted(_)) {
            self.names = Some(Names::of_run(state));
            let mut header = title(state).with(Role::Dim, ", ");
            header.append(particulars(state));
            self.write(&header);
        }
        match &event.kind {
            EventKind::TrialFinished { trial, .. } => {
                self.trial_finished(*trial, state);
                self.told_at = Some(event.at);
            }
            kind => {
                let told = self
                    .names
                    .as_ref()
                    .and_then(|names| notice(kind, state, names, UNLIMITED));
                if told.is_some() || self.told_at.is_none() {
                    self.told_at = Some(event.at);
                }
                told.iter().for_each(|line| self.write(line));
            }
        }
    }

    fn tick(&mut self, now: Timestamp, state: &RunState) {
        let is_due = (self.told_at).is_some_and(|then| now.duration_since(then) >= HEARTBEAT);
        if is_due && state.finished_at().is_none() {
            self.heartbeat(now, state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use terca_core::config::adaptive::Adaptive;
    use terca_core::run::event::{Phase, RunStatus, StopReason};

    fn shown(script: &Script, colour: bool) -> String {
        let mut out = Vec::new();
        script.play(&mut Plain::new(&mut out, Palette::new(colour)));
        String::from_utf8(out).unwrap()
    }

    fn interrupted_run() -> Script {
        let mut script = Script::new(fixture::heads(3, 2, 2), 2);
        script
            .start(1)
            .start(3)
            .pass(41.2)
            .doing(1, "npm test", 900);
        script.finish(1, &fixture::passed(41.2)).start(5).pass(3.0);
        script
            .finish(
                3,
                &fixture::failed(44.2, "check-file", "fib.js does not exist"),
            )
            .start(7);
        script
            .finish(5, &fixture::partial(20.0, 0.5))
            .start(9)
            .finish(7, &fixture::error("exit status 1"));
        script
            .stop(StopReason::Interrupted)
            .pass(1.0)
            .finish(9, &fixture::interrupted(1.0));
        script.end(RunStatus::Interrupted);
        script
    }

    #[test]
    fn a_run_as_lines() {
        insta::assert_snapshot!("plain", shown(&interrupted_run(), false));
    }

    #[test]
    fn a_run_as_coloured_lines() {
        insta::assert_snapshot!(
            "plain_colour",
            shown(&interrupted_run(), true).replace('\u{1b}', "␛")
        );
    }

    #[test]
    fn a_run_without_variants() {
        let heads = (1..=3)
            .map(|id| fixture::head(id, &format!("eval-{id}"), "default", "default", 1))
            .collect();
        let mut script = Script::new(heads, 1);
        script
            .start(1)
            .finish(1, &fixture::error("exit status 1"))
            .start(2)
            .finish(2, &fixture::interrupted(0.2));
        insta::assert_snapshot!("plain_without_variants", shown(&script, false));
    }

    /// The clock is the one of the ticks: nobody waits.
    #[test]
    fn a_line_now_and_then_while_nothing_ends() {
        let mut script = Script::new(fixture::heads(1, 2, 1), 2);
        script.start(1).phase(1, Phase::Agent).start_on(2, "n1");
        let mut out = Vec::new();
        let limits = [(1, 300.0)].into_iter().collect();
        let mut plain = Plain::new(&mut out, Palette::new(false)).with_limits(limits);
        script.play(&mut plain);
        for seconds in [30.0, 29.0, 1.0, 59.0, 1.0, 120.0] {
            script.pass(seconds);
            plain.tick(script.now, &script.state);
        }
        insta::assert_snapshot!("plain_heartbeat", String::from_utf8(out).unwrap());
    }

    #[test]
    fn a_run_on_workers() {
        let mut script = Script::new(fixture::heads(1, 2, 1), 2);
        script.start_on(1, "n1").start_on(2, "build-machine-2");
        script.finish(1, &fixture::passed(3.0));
        insta::assert_snapshot!("plain_on_workers", shown(&script, false));
    }

    #[test]
    fn a_run_that_adds_repetitions() {
        let mut script =
            Script::adaptive(fixture::heads(1, 2, 12), 2, Adaptive { min: 1, max: 12 });
        let ids = |script: &Script| {
            script
                .state
                .trials()
                .iter()
                .map(|trial| trial.head.id)
                .collect::<Vec<_>>()
        };
        for id in ids(&script) {
            script.start(id).pass(1.0).finish(id, &fixture::passed(1.0));
        }
        script.round(2);
        for id in ids(&script)
            .into_iter()
            .filter(|id| {
                script
                    .state
                    .trial(*id)
                    .is_some_and(|t| t.report.score.is_none())
            })
            .collect::<Vec<_>>()
        {
            script.start(id).pass(1.0).finish(id, &fixture::passed(1.0));
        }
        script.end(RunStatus::Complete);
        insta::assert_snapshot!("plain_adaptive", shown(&script, false));
    }

    #[test]
    fn a_run_that_is_joined_late_has_its_header() {
        let script = interrupted_run();
        let mut out = Vec::new();
        Plain::new(&mut out, Palette::new(false))
            .event(script.events.last().unwrap(), &script.state);
        assert!(
            String::from_utf8(out)
                .unwrap()
                .starts_with("basic-js: 12 trials")
        );
    }

    #[test]
    fn a_closed_pipe_ends_the_lines_and_not_the_run() {
        struct Closing(usize);
        impl Write for Closing {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0 += 1;
                if self.0 > 2 {
                    Err(std::io::ErrorKind::BrokenPipe.into())
                } else {
                    Ok(bytes.len())
                }
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut closing = Closing(0);
        interrupted_run().play(&mut Plain::new(&mut closing, Palette::new(false)));
        assert_eq!(closing.0, 3, "no attempt after the first that failed");
    }
}
