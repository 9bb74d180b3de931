//! The display of a run while it goes on.

use std::io::{self, Write};

use jiff::Timestamp;
use terca_core::run::event::{Event, EventKind};
use terca_core::run::observer::Observer;
use terca_core::run::state::RunState;
use terca_engine::run::signals::Stopper;
use terca_engine::run::start::PreparedRun;
use terca_report::github::Printed;
use terca_report::{JsonLines, Plain, TimeLimits, Tty};

use crate::args::{CiArgs, Common, DisplayArgs, Format};
use crate::run::keyboard::{Keyboard, Wish};
use crate::run::live_screen::LiveScreen;
use crate::screen;

/// Returns the display of a run that goes on.
pub fn observer(
    run: &PreparedRun<'_>,
    display: &DisplayArgs,
    ci: &CiArgs,
    common: &Common,
) -> Box<dyn Observer> {
    let limits: TimeLimits = run.time_limits().collect();
    let palette = screen::err_palette(common.color);
    match display.format {
        Format::Auto | Format::Tty | Format::Plain if display.quiet => {
            Box::new(Plain::new(io::sink(), palette))
        }
        Format::Json => Box::new(JsonLines::new(screen::lines(io::stdout(), Printed::Json))),
        Format::Tty => {
            let canvas = screen::canvas(io::stderr());
            Box::new(Tty::new(canvas, palette).with_limits(limits))
        }
        Format::Auto if screen::is_lively() => {
            let tty = Tty::new(LiveScreen, palette).with_limits(limits);
            Box::new(WithKeys::new(tty, run.stopper.clone()))
        }
        Format::Auto | Format::Plain => {
            let lines = screen::lines(io::stderr(), Printed::Text);
            let plain = Plain::new(lines, palette).with_limits(limits);
            if !ci.no_github && screen::is_on_github() {
                Box::new(Grouped(plain))
            } else {
                Box::new(plain)
            }
        }
    }
}

/// Lines of progress that GitHub Actions folds.
struct Grouped<O>(O);

impl<O: Observer> Observer for Grouped<O> {
    fn event(&mut self, event: &Event, state: &RunState) {
        if matches!(
            event.kind,
            EventKind::RunStarted(_) | EventKind::RunResumed { .. }
        ) {
            screen::command("::group::Trials\n", &mut io::stderr());
        }
        self.0.event(event, state);
        if matches!(event.kind, EventKind::RunFinished { .. }) {
            screen::command("::endgroup::\n", &mut io::stderr());
        }
    }

    fn tick(&mut self, now: Timestamp, state: &RunState) {
        self.0.tick(now, state);
    }
}

/// A live display, and the keys of the person who looks at it.
#[derive(Debug)]
struct WithKeys<W: Write> {
    tty: Tty<W>,
    /// `None` where nobody can type, and after the end of the run.
    keyboard: Option<Keyboard>,
    stopper: Stopper,
}

impl<W: Write> WithKeys<W> {
    /// Listens for keys where a person can type any.
    fn new(tty: Tty<W>, stopper: Stopper) -> Self {
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
