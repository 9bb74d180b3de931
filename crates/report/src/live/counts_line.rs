//! Counts and spending in one line: `12 passed · 2 failed  312.0k tokens  $0.820`.

use terca_core::run::outcome::Status;
use terca_core::run::state::{Counts, RunState};

use crate::live::layout::GAP;
use crate::metrics::{dollars, tokens_with_unit as tokens};
use crate::outcome::{ending, mark};
use crate::term::style::Role;
use crate::term::styled_line::StyledLine;

/// Returns how many trials have ended. Those that were interrupted before the run was resumed run again, and have not.
pub(crate) fn so_far(state: &RunState) -> Counts {
    let is_stopping = state.stopping().is_some() || state.finished_at().is_some();
    let counts = *state.counts();
    Counts {
        interrupted: if is_stopping { counts.interrupted } else { 0 },
        ..counts
    }
}

/// In as many words as there is room for. Empty while there is nothing to tell.
pub fn counts_line(state: &RunState, columns: usize) -> StyledLine {
    let counts = &so_far(state);
    let spent = state.spent_with_live();
    let [long, short] = ["tokens", "tok"].map(|unit| dim(tokens(&spent, unit)));
    let cost = dim(dollars(&spent));
    let [words, marks] = [in_words(counts), in_marks(counts)];
    let candidates = [
        join([words, long, cost.clone()]),
        join([marks.clone(), short, cost.clone()]),
        join([marks.clone(), cost]),
    ];
    candidates
        .into_iter()
        .find(|line| line.width() <= columns)
        .unwrap_or(marks)
}

/// The spending by itself.
pub(crate) fn cost(state: &RunState) -> StyledLine {
    dim(dollars(&state.spent_with_live()))
}

fn dim(text: Option<String>) -> StyledLine {
    text.map_or_else(StyledLine::new, |text| StyledLine::of(Role::Dim, &text))
}

/// The ends of trials and their numbers, without those that did not occur.
pub(crate) fn endings(counts: &Counts) -> impl Iterator<Item = (Status, usize)> {
    [
        (Status::Passed, counts.passed),
        (Status::Partial, counts.partial),
        (Status::Failed, counts.failed),
        (Status::Error, counts.errors),
        (Status::Interrupted, counts.interrupted),
    ]
    .into_iter()
    .filter(|(_, number)| *number > 0)
}

/// `25 passed · 2 partial · 1 error`.
fn in_words(counts: &Counts) -> StyledLine {
    let mut words = StyledLine::new();
    for (status, number) in endings(counts) {
        if !words.is_empty() {
            words.push(Role::Dim, " · ");
        }
        words.push(Role::of_status(status), &ending(status, number));
    }
    words
}

/// `✓ 25  ◐ 2  ! 1`.
pub(crate) fn in_marks(counts: &Counts) -> StyledLine {
    let mut marks = StyledLine::new();
    for (status, number) in endings(counts) {
        if !marks.is_empty() {
            marks.push(Role::Plain, GAP);
        }
        marks.push(
            Role::of_status(status),
            &format!("{} {number}", mark(status)),
        );
    }
    marks
}

/// Those that say something, apart from each other.
pub(crate) fn join<const N: usize>(parts: [StyledLine; N]) -> StyledLine {
    let mut joined = StyledLine::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !joined.is_empty() {
            joined.push(Role::Plain, GAP);
        }
        joined.append(part);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::style::Palette;

    fn shown(script: &Script, columns: usize) -> String {
        counts_line(&script.state, columns).render(Palette::new(false))
    }

    #[test]
    fn as_many_words_as_there_is_room_for() {
        let script = fixture::busy_run();
        for (columns, line) in [
            (
                79,
                "12 passed · 1 partial · 2 failed · 1 error  1.6M tokens  $0.576",
            ),
            (59, "✓ 12  ◐ 1  ✗ 2  ! 1  1.6M tok  $0.576"),
            (30, "✓ 12  ◐ 1  ✗ 2  ! 1  $0.576"),
            (20, "✓ 12  ◐ 1  ✗ 2  ! 1"),
        ] {
            assert_eq!(shown(&script, columns), line, "{columns}");
        }
        assert_eq!(shown(&Script::new(fixture::heads(1, 1, 1), 1), 79), "");
    }
}
