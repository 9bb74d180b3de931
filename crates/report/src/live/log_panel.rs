//! The log of one trial, in the place of the trials in flight.

use terca_core::run::state::{RunState, Trial};

use crate::live::keys::Key;
use crate::names::Names;
use crate::term::style::Role;
use crate::term::styled_line::StyledLine;

/// The log that is open.
#[derive(Debug, Clone)]
pub struct LogPanel {
    trial: u32,
    /// Its last lines. Whoever has the display gives them.
    lines: Vec<String>,
}

impl LogPanel {
    /// Opens the log of the oldest trial in flight, if there is one.
    pub fn open(state: &RunState) -> Option<Self> {
        let trial = state.in_flight().next()?.head.id;
        Some(LogPanel {
            trial,
            lines: Vec::new(),
        })
    }

    /// Returns the id of its trial.
    pub fn trial(&self) -> u32 {
        self.trial
    }

    /// Tells whether its trial still runs.
    pub fn is_of_running(&self, state: &RunState) -> bool {
        position(self.trial, state).is_some()
    }

    /// Shows other lines.
    pub fn set(&mut self, lines: Vec<String>) {
        self.lines = lines;
    }

    /// Goes to another trial in flight.
    pub fn choose(&mut self, key: Key, state: &RunState) {
        let count = state.in_flight().len();
        let Some(now) = position(self.trial, state).filter(|_| count > 0) else {
            return;
        };
        let next = match key {
            Key::Next => (now + 1) % count,
            Key::Previous => (now + count - 1) % count,
            Key::Number(number @ 1..) => number - 1,
            _ => now,
        };
        if let Some(trial) = state.in_flight().nth(next).filter(|_| next != now) {
            self.trial = trial.head.id;
            self.lines.clear();
        }
    }

    /// Returns a title and the last lines, as many as there is room for.
    pub fn lines(&self, state: &RunState, names: &Names, room: usize) -> Vec<StyledLine> {
        let (Some(now), Some(trial)) = (position(self.trial, state), state.trial(self.trial))
        else {
            return Vec::new();
        };
        let count = state.in_flight().len();
        let title = StyledLine::of(Role::Bold, &format!("log of {}", names.trial(&trial.head)))
            .with(Role::Dim, &format!(" ({} of {count})", now + 1));
        let said = self.said(trial);
        let first = said.len().saturating_sub(room.saturating_sub(1));
        let shown = said[first..].iter().map(|line| StyledLine::plain(line));
        std::iter::once(title).chain(shown).take(room).collect()
    }

    fn said(&self, trial: &Trial) -> Vec<String> {
        if !self.lines.is_empty() {
            return self.lines.clone();
        }
        let live = trial.live.as_ref();
        let on = live.and_then(|live| live.on.as_ref());
        let doing = live.map(|live| live.doing.clone());
        match on {
            Some(node) => {
                let note = format!("(its log is on {node} until the trial ends)");
                let doing = doing.filter(|doing| !doing.is_empty());
                doing.into_iter().chain([note]).collect()
            }
            None => vec!["(nothing was printed yet)".to_owned()],
        }
    }
}

fn position(trial: u32, state: &RunState) -> Option<usize> {
    state.in_flight().position(|other| other.head.id == trial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::style::Palette;

    fn shown(panel: &LogPanel, script: &Script, room: usize) -> Vec<String> {
        let names = Names::of_run(&script.state);
        let lines = panel.lines(&script.state, &names, room);
        lines
            .iter()
            .map(|line| line.render(Palette::new(false)))
            .collect()
    }

    #[test]
    fn it_goes_round_the_trials_in_flight() {
        let mut script = Script::new(fixture::heads(2, 2, 1), 3);
        script.start(1).start(2).start(3);
        let mut panel = LogPanel::open(&script.state).unwrap();
        let mut seen = vec![panel.trial()];
        for key in [
            Key::Next,
            Key::Next,
            Key::Next,
            Key::Previous,
            Key::Number(2),
            Key::Number(9),
        ] {
            panel.choose(key, &script.state);
            seen.push(panel.trial());
        }
        assert_eq!(seen, [1, 2, 3, 1, 3, 2, 2]);
        script.finish(2, &fixture::passed(1.0));
        assert!(!panel.is_of_running(&script.state));
    }

    #[test]
    fn the_last_lines_are_shown() {
        let mut script = Script::new(fixture::heads(1, 1, 1), 1);
        script.start(1);
        let mut panel = LogPanel::open(&script.state).unwrap();
        assert_eq!(
            shown(&panel, &script, 3)[1..],
            ["(nothing was printed yet)"]
        );
        panel.set(["one", "two", "three\u{1b}[2J"].map(str::to_owned).into());
        assert_eq!(shown(&panel, &script, 3)[1..], ["two", "three␛[2J"]);
        assert_eq!(shown(&panel, &script, 0), Vec::<String>::new());
    }

    #[test]
    fn the_log_of_a_trial_on_a_worker_is_there() {
        let mut script = Script::new(fixture::heads(1, 1, 1), 1);
        script.start_on(1, "n1").doing(1, "$ npm test", 1);
        let panel = LogPanel::open(&script.state).unwrap();
        let said = ["$ npm test", "(its log is on n1 until the trial ends)"];
        assert_eq!(shown(&panel, &script, 3)[1..], said);
    }
}
