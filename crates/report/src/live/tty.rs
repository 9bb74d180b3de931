//! The live display: a header, finished trials scrolling away, the frame below them.
//!
//! Events only leave a mark; the screen is drawn at most ten times a second.

use std::fmt;
use std::io::Write;

use jiff::{SignedDuration, Timestamp};
use terca_core::run::event::{Event, EventKind};
use terca_core::run::observer::Observer;
use terca_core::run::state::RunState;

use crate::live::frame::{Shown, frame};
use crate::live::layout::Layout;
use crate::live::notices::{notice, particulars, title};
use crate::live::time_limits::{Clock, TimeLimits};
use crate::live::trial_line;
use crate::names::Names;
use crate::term::painter::Painter;
use crate::term::{Palette, Size, StyledLine, dim};

/// The list of keys, and the commands that show more.
const KEYS: &str =
    "keys: q stop, qq at once · `terca logs -f` follows an agent, `terca view` shows all";

const BETWEEN_DRAWS: SignedDuration = SignedDuration::from_millis(100);

pub struct Tty<W: Write> {
    painter: Painter<W>,
    palette: Palette,
    size: Box<dyn Fn() -> Size + Send>,
    /// Known from the first event on, whichever that is: a resumed run need not begin with `RunStarted`.
    names: Option<Names>,
    /// The time at which the display began.
    since: Option<Timestamp>,
    /// Lines to print above the frame at the next draw.
    above: Vec<Above>,
    /// Something was printed below the header, which a blank line sets apart from it.
    apart: bool,
    drawn_at: Option<Timestamp>,
    /// The width of the screen when it was last drawn on.
    columns: usize,
    limits: TimeLimits,
    /// Keys are heard.
    keys: bool,
}

/// Lines are laid out when they are drawn, for the width that the screen has then.
enum Above {
    Line(StyledLine),
    /// A finished trial, by its id.
    Trial(u32),
}

impl<W: Write> Tty<W> {
    /// On the terminal that standard error or standard output goes to.
    pub fn new(out: W, palette: Palette) -> Self {
        Tty::with_size(out, palette, Size::of_terminal)
    }

    /// The size is asked for before every draw.
    pub fn with_size(out: W, palette: Palette, size: impl Fn() -> Size + Send + 'static) -> Self {
        Tty {
            painter: Painter::new(out),
            palette,
            size: Box::new(size),
            names: None,
            since: None,
            above: Vec::new(),
            apart: false,
            drawn_at: None,
            columns: Size::FALLBACK.usable_columns(),
            limits: TimeLimits::default(),
            keys: false,
        }
    }

    /// Shows which trials come close to these limits.
    pub fn with_limits(self, limits: TimeLimits) -> Self {
        Tty { limits, ..self }
    }

    /// Says which keys are heard.
    pub fn with_keys(self) -> Self {
        Tty { keys: true, ..self }
    }

    /// Prints the list of keys at once.
    pub fn print_keys(&mut self, now: Timestamp, state: &RunState) {
        self.print(Above::Line(dim(KEYS)));
        self.draw(now, state);
    }

    /// Erases the frame, for another program that has the terminal next. The next draw brings it back.
    pub fn suspend(&mut self) {
        self.painter.finish();
    }

    /// Draws the frame on a terminal that another program has had.
    pub fn resume(&mut self, now: Timestamp, state: &RunState) {
        if state.finished_at().is_none() {
            self.draw(now, state);
        }
    }

    /// Erases the frame and gives the cursor back. Also happens when the run is finished, and on drop.
    pub fn finish(&mut self) {
        self.painter.finish();
    }

    fn begin(&mut self, now: Timestamp, state: &RunState) {
        self.names = Some(Names::of_run(state));
        self.since = Some(now);
        self.above
            .extend([title(state), particulars(state)].map(Above::Line));
        self.apart = false;
    }

    fn print(&mut self, line: Above) {
        if !std::mem::replace(&mut self.apart, true) {
            self.above.push(Above::Line(StyledLine::default()));
        }
        self.above.push(line);
    }

    fn is_due(&self, now: Timestamp) -> bool {
        // A clock that was set back must not stop the display.
        self.drawn_at
            .is_none_or(|then| now < then || now.duration_since(then) >= BETWEEN_DRAWS)
    }

    fn draw(&mut self, now: Timestamp, state: &RunState) {
        let Some(names) = &self.names else { return };
        let size = (self.size)();
        self.columns = size.usable_columns();
        let above: Vec<String> = self
            .above
            .drain(..)
            .filter_map(|above| above.lay_out(state, names, size.usable_columns()))
            .map(|line| line.render(self.palette))
            .collect();
        let frame = match state.finished_at() {
            None => {
                let since = self.since;
                let clock = Clock { now, since };
                let shown = Shown {
                    clock,
                    limits: &self.limits,
                    keys: self.keys,
                };
                frame(state, names, shown, size, self.palette)
            }
            Some(_) => Vec::new(),
        };
        self.painter.paint(&above, frame, size);
        self.drawn_at = Some(now);
    }
}

impl Above {
    fn lay_out(self, state: &RunState, names: &Names, columns: usize) -> Option<StyledLine> {
        match self {
            Above::Line(line) => Some(line.fit(columns)),
            Above::Trial(id) => {
                let trial = state.trial(id)?;
                let layout = Layout::new(names, state.reports_tokens(), columns);
                Some(trial_line::finished(
                    &trial.head, &trial.report, names, &layout,
                ))
            }
        }
    }
}

impl<W: Write> Observer for Tty<W> {
    fn event(&mut self, event: &Event, state: &RunState) {
        if self.names.is_none() || matches!(event.kind, EventKind::RunStarted(_)) {
            self.begin(event.at, state);
        }
        match &event.kind {
            EventKind::TrialFinished { trial, .. } => self.print(Above::Trial(*trial)),
            EventKind::RunFinished { .. } => {
                self.draw(event.at, state);
                self.finish();
                return;
            }
            kind => {
                let names = self.names.as_ref();
                let told = names.and_then(|names| notice(kind, state, names, self.columns));
                if let Some(line) = told {
                    self.print(Above::Line(line));
                }
            }
        }
        if self.is_due(event.at) {
            self.draw(event.at, state);
        }
    }

    fn tick(&mut self, now: Timestamp, state: &RunState) {
        if state.finished_at().is_none() && self.is_due(now) {
            self.draw(now, state);
        }
    }
}

impl<W: Write> fmt::Debug for Tty<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tty")
            .field("palette", &self.palette)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
