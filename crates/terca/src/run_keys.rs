//! The live display of a run, and the keys that are heard meanwhile.

use std::io::Write;

use jiff::Timestamp;
use terca_core::run::event::{Event, EventKind};
use terca_core::run::observer::Observer;
use terca_core::run::state::RunState;
use terca_engine::run::signals::Stopper;
use terca_report::Tty;

use crate::keyboard::{Keyboard, Wish};

/// A live display, and the keys of the person who looks at it.
#[derive(Debug)]
pub struct WithKeys<W: Write> {
    tty: Tty<W>,
    /// `None` where nobody can type, and after the end of the run.
    keyboard: Option<Keyboard>,
    stopper: Stopper,
}

impl<W: Write> WithKeys<W> {
    /// Listens for keys where a person can type any.
    pub fn new(tty: Tty<W>, stopper: Stopper) -> Self {
        let keyboard = Keyboard::open();
        let tty = match keyboard {
            Some(_) => tty.with_keys(),
            None => tty,
        };
        WithKeys {
            tty,
            keyboard,
            stopper,
        }
    }

    fn obey(&mut self, now: Timestamp, state: &RunState) {
        while let Some(wish) = self.keyboard.as_ref().and_then(Keyboard::next) {
            match wish {
                Wish::Help => self.tty.print_keys(now, state),
                Wish::Stop => self.stopper.press(),
            }
        }
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
