//! The lines at the beginning of a run, the same for the live display and for plain lines.

use terca_core::config::adaptive::Adaptive;
use terca_core::run::state::RunState;
use terca_core::text::prose;

use crate::shape::Shape;
use crate::term::style::Role;
use crate::term::styled_line::StyledLine;

/// `basic-js: 24 trials (3 evals × 2 variants × 4 repetitions)`.
pub fn title(state: &RunState) -> StyledLine {
    let trials = prose::count(state.trials().len(), "trial");
    let title = StyledLine::of(Role::Bold, state.suite()).with(Role::Plain, &format!(": {trials}"));
    let title = match Shape::of(state.trials().iter().map(|trial| &*trial.head)).in_words() {
        words if words.is_empty() => title,
        words => title.with(Role::Plain, &format!(" ({words})")),
    };
    match state.adaptive() {
        Some(bounds) => title.with(Role::Plain, &format!(", {}", until_decided(bounds))),
        None => title,
    }
}

/// `then more, until every comparison is decided, up to 20 repetitions`.
fn until_decided(bounds: Adaptive) -> String {
    let most = prose::count(bounds.max as usize, "repetition");
    format!("then more, until every comparison is decided, up to {most}")
}

/// `4 at a time, run 2026-11-14-001, seed 7`. Of one trial there is never more than one at a time.
pub fn particulars(state: &RunState) -> StyledLine {
    let trials = state.trials().len() + state.spare().len();
    let at_once = match state.concurrency().min(trials) {
        0 | 1 if trials <= 1 => String::new(),
        number => format!("{number} at a time, "),
    };
    let text = format!("{at_once}run {}, seed {}", state.run(), state.seed());
    StyledLine::of(Role::Dim, &text)
}
