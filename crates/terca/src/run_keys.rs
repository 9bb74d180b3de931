//! The live display of a run, and the keys that change it.

use std::collections::VecDeque;
use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use terca_core::run::event::{Event, EventKind};
use terca_core::run::observer::Observer;
use terca_core::run::state::RunState;
use terca_engine::run::follow::Follow;
use terca_engine::run::signals::Stopper;
use terca_report::{Palette, Tty};

use crate::keyboard::{Keyboard, Wish};
use crate::session_text::{Said, SessionText};

/// As many lines of a log as any screen shows.
const MOST_LINES: usize = 200;

/// A live display that somebody at the terminal can ask for more.
#[derive(Debug)]
pub struct WithKeys<W: Write> {
    tty: Tty<W>,
    /// `None` where nobody can type, and after the end of the run.
    keyboard: Option<Keyboard>,
    stopper: Stopper,
    run_dir: Utf8PathBuf,
    log: Option<OpenLog>,
}

/// The log of a trial that is on the screen.
#[derive(Debug)]
struct OpenLog {
    trial: u32,
    follow: Follow,
    text: SessionText,
    lines: VecDeque<String>,
}

impl<W: Write> WithKeys<W> {
    /// Listens for keys where a person can type any.
    pub fn new(tty: Tty<W>, stopper: Stopper, run_dir: &Utf8Path) -> Self {
        let keyboard = Keyboard::open();
        let tty = match keyboard {
            Some(_) => tty.with_keys(),
            None => tty,
        };
        WithKeys {
            tty,
            keyboard,
            stopper,
            run_dir: run_dir.to_owned(),
            log: None,
        }
    }

    fn obey(&mut self, now: Timestamp, state: &RunState) {
        while let Some(wish) = self.keyboard.as_ref().and_then(Keyboard::next) {
            match wish {
                Wish::Show(key) => self.tty.press(key, now, state),
                Wish::Stop => self.stopper.press(),
            }
        }
        self.read_log(state);
    }

    /// Reads on in the log that is open.
    fn read_log(&mut self, state: &RunState) {
        let trial = self.tty.open_log();
        if self.log.as_ref().map(|log| log.trial) != trial {
            let head = trial.and_then(|trial| state.trial(trial));
            self.log = head.map(|trial| {
                let head = &trial.head;
                let text = SessionText::of(head, Palette { colour: false });
                OpenLog {
                    trial: head.id,
                    follow: Follow::new(&self.run_dir, &head.dir, head.id, text.file()),
                    text,
                    lines: VecDeque::new(),
                }
            });
        }
        if let Some(log) = &mut self.log {
            self.tty.set_log(log.read());
        }
    }
}

impl OpenLog {
    /// Returns the last lines.
    fn read(&mut self) -> Vec<String> {
        // A file that cannot be read is as good as none: the display goes on.
        let added = self.follow.added().unwrap_or_default();
        for said in self.text.take(&added) {
            let (Said::Printed(text) | Said::Step(text)) = said;
            self.lines.extend(text.lines().map(str::to_owned));
            let excess = self.lines.len().saturating_sub(MOST_LINES);
            self.lines.drain(..excess);
        }
        self.lines.iter().cloned().collect()
    }
}

impl<W: Write> Observer for WithKeys<W> {
    fn event(&mut self, event: &Event, state: &RunState) {
        if matches!(event.kind, EventKind::RunFinished { .. }) {
            self.keyboard = None;
        }
        self.tty.event(event, state);
    }

    fn tick(&mut self, now: Timestamp, state: &RunState) {
        self.obey(now, state);
        self.tty.tick(now, state);
    }

    fn suspend(&mut self) {
        self.tty.suspend();
        if let Some(keyboard) = &self.keyboard {
            keyboard.suspend();
        }
    }

    fn resume(&mut self, now: Timestamp, state: &RunState) {
        self.tty.resume(now, state);
    }
}
