//! The overall progress, in one line: how far the run is, for how long it has been going on, and for how long it will. And the
//! counts and the spending, in another: `12 passed · 2 failed  312.0k tokens  $0.820`.
//!
//! The line has a form for every width, and in each form everything has its place: what is shown may come and go and
//! grow, and the bar stays as long as it was. The bar's filled part is coloured by how the trials ended.

use terca_core::run::outcome::Status;
use terca_core::run::state::{Counts, RunState};

use crate::live::eta::seconds_left;
use crate::live::layout::{GAP, TIME_COLUMNS};
use crate::live::time_limits::{Clock, growing, seconds_between};
use crate::metrics::{dollars, tokens_with_unit};
use crate::outcome::{ending, mark};
use crate::term::{Role, StyledLine, bold, dim, pad_left, plain, styled, width};

const SHORTEST_BAR: usize = 8;
const LONGEST_BAR: usize = 30;
/// `1h 55m left`.
const LEFT_COLUMNS: usize = 11;
/// `at least ` and `about `.
const HEDGE_COLUMNS: usize = 9;

/// For a screen that has another line for how trials ended.
pub fn bar(state: &RunState, clock: Clock, columns: usize) -> StyledLine {
    let counts = &so_far(state);
    let finished = counts.finished() * 100 / counts.total.max(1);
    let share = plain(&format!("{finished:>3}%"));
    let [fraction, elapsed] = [fraction(counts), elapsed(state, clock)];
    // It has its place, whether there is something in it or not.
    let left = |hedged: bool| {
        let mut left = left(state, clock, hedged);
        left.pad_to(LEFT_COLUMNS + usize::from(hedged) * HEDGE_COLUMNS);
        left
    };
    let forms = [
        join([fraction.clone(), share, elapsed.clone(), left(true)]),
        join([fraction.clone(), elapsed.clone(), left(false)]),
        join([fraction, elapsed]),
    ];
    with_gauge(forms, state, clock, columns)
}

/// For a screen that has no other line: the counts are told here, and the bar goes first.
pub fn only(state: &RunState, clock: Clock, columns: usize) -> StyledLine {
    let counts = &so_far(state);
    let told = join([fraction(counts), in_marks(counts), elapsed(state, clock)]);
    let left = left(state, clock, true);
    let cost = known(dollars(&state.spent_with_live()));
    let forms = [
        join([told.clone(), left.clone(), cost]),
        join([told.clone(), left]),
        told,
    ];
    with_gauge(forms, state, clock, columns)
}

/// The first figures that leave room for the bar, with the bar before them. Without that room, what fits.
fn with_gauge(
    forms: [StyledLine; 3],
    state: &RunState,
    clock: Clock,
    columns: usize,
) -> StyledLine {
    let counts = &so_far(state);
    let longest = columns.saturating_sub(GAP.len() + SHORTEST_BAR);
    if let Some(figures) = first_fitting(forms, longest) {
        let room = columns - GAP.len() - figures.width();
        return join([gauge(counts, room.min(LONGEST_BAR)), figures]);
    }
    let (fraction, marks) = (fraction(counts), in_marks(counts));
    let elapsed = elapsed(state, clock);
    let candidates = [
        join([fraction.clone(), marks.clone(), elapsed.clone()]),
        join([fraction.clone(), marks]),
        join([fraction.clone(), elapsed]),
    ];
    first_fitting(candidates, columns).unwrap_or(fraction)
}

fn first_fitting<const N: usize>(lines: [StyledLine; N], columns: usize) -> Option<StyledLine> {
    lines.into_iter().find(|line| line.width() <= columns)
}

/// `31/40`.
fn fraction(counts: &Counts) -> StyledLine {
    let total = counts.total.to_string();
    let finished = pad_left(&counts.finished().to_string(), width(&total));
    bold(&format!("{finished}/{total}"))
}

fn elapsed(state: &RunState, clock: Clock) -> StyledLine {
    let since = clock.since.or(state.started_at());
    let seconds = since.map(|since| growing(seconds_between(since, clock.now)));
    known(seconds.map(|seconds| pad_left(&seconds, TIME_COLUMNS)))
}

/// Nothing when stopping: what waits will not run. Of a run that adds repetitions as it needs them only the least is
/// known.
fn left(state: &RunState, clock: Clock, hedged: bool) -> StyledLine {
    let seconds = match state.stopping() {
        Some(_) => None,
        None => seconds_left(state, clock.now),
    };
    let hedge = match (hedged, state.spare().is_empty()) {
        (false, _) => "",
        (true, true) => "about ",
        (true, false) => "at least ",
    };
    known(seconds.map(|seconds| format!("{hedge}{} left", roughly(seconds))))
}

/// An estimate is not better than this, and it should not twitch.
fn roughly(seconds: f64) -> String {
    let step = match seconds {
        ..10.0 => 1.0,
        ..60.0 => 5.0,
        ..600.0 => 30.0,
        ..3600.0 => 60.0,
        _ => 300.0,
    };
    let rounded = (seconds / step).round() * step;
    match rounded {
        60.0..3600.0 if rounded % 60.0 == 0.0 => format!("{:.0}m", rounded / 60.0),
        _ => growing(rounded),
    }
}

/// The bar itself. Boundaries are rounded down, so that only a finished run fills it.
fn gauge(counts: &Counts, columns: usize) -> StyledLine {
    let mut gauge = StyledLine::default();
    let (mut finished, mut filled) = (0, 0);
    for (status, number) in endings(counts) {
        finished += number;
        let end = finished * columns / counts.total.max(1);
        gauge.push(Role::of_status(status), &"━".repeat(end - filled));
        filled = end;
    }
    gauge.with(Role::Dim, &"─".repeat(columns - filled))
}

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
    let [long, short] = ["tokens", "tok"].map(|unit| known(tokens_with_unit(&spent, unit)));
    let cost = known(dollars(&spent));
    let mut words = StyledLine::default();
    for (status, number) in endings(counts) {
        if !words.is_empty() {
            words.push(Role::Dim, " · ");
        }
        words.push(Role::of_status(status), &ending(status, number));
    }
    let marks = in_marks(counts);
    let candidates = [
        join([words, long, cost.clone()]),
        join([marks.clone(), short, cost.clone()]),
        join([marks.clone(), cost]),
    ];
    first_fitting(candidates, columns).unwrap_or(marks)
}

/// What is not known is not told.
fn known(text: Option<String>) -> StyledLine {
    dim(&text.unwrap_or_default())
}

/// The ends of trials and their numbers, without those that did not occur.
fn endings(counts: &Counts) -> impl Iterator<Item = (Status, usize)> {
    [
        (Status::Passed, counts.passed),
        (Status::Partial, counts.partial),
        (Status::Failed, counts.failed),
        (Status::Unverified, counts.unverified),
        (Status::Error, counts.errors),
        (Status::Interrupted, counts.interrupted),
    ]
    .into_iter()
    .filter(|(_, number)| *number > 0)
}

/// `✓ 25  ◐ 2  ! 1`.
fn in_marks(counts: &Counts) -> StyledLine {
    join(endings(counts).map(|(status, number)| {
        styled(
            Role::of_status(status),
            &format!("{} {number}", mark(status)),
        )
    }))
}

/// Those that say something, apart from each other.
fn join(parts: impl IntoIterator<Item = StyledLine>) -> StyledLine {
    let mut joined = StyledLine::default();
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
    use crate::term::Palette;

    #[test]
    fn only_a_finished_run_fills_the_bar() {
        for (passed, failed, total, drawn) in [
            (0, 0, 10, "──────────"),
            (5, 0, 10, "━━━━━─────"),
            (996, 3, 1000, "━━━━━━━━━─"),
            (997, 3, 1000, "━━━━━━━━━━"),
            (0, 0, 0, "──────────"),
        ] {
            let counts = Counts {
                total,
                passed,
                failed,
                ..Counts::default()
            };
            assert_eq!(
                gauge(&counts, 10).render(Palette::new(false)),
                drawn,
                "{passed}+{failed}/{total}"
            );
        }
    }

    #[test]
    fn the_bar_shows_how_trials_ended() {
        let counts = Counts {
            total: 4,
            passed: 2,
            failed: 1,
            ..Counts::default()
        };
        assert_eq!(
            gauge(&counts, 4).render(Palette::new(true)),
            "\u{1b}[32m━━\u{1b}[0m\u{1b}[31m━\u{1b}[0m\u{1b}[2m─\u{1b}[0m"
        );
    }

    #[test]
    fn everything_stays_in_its_place() {
        let mut script = Script::new(fixture::heads(12, 1, 1), 1);
        let drawn = |script: &Script, columns| {
            bar(
                &script.state,
                Clock {
                    now: script.now,
                    since: None,
                },
                columns,
            )
            .render(Palette::new(false))
        };
        let places = |line: &str| {
            line.find('/')
                .map(|at| (line[..at].chars().count(), line.contains(" left")))
        };
        for columns in [39, 59, 79, 199] {
            let before = drawn(&script, columns);
            assert_eq!(
                places(&before).map(|(_, left)| left),
                Some(false),
                "{before}"
            );
        }
        let before = [39, 59, 79, 199].map(|columns| drawn(&script, columns));
        for id in 1..=11 {
            script
                .start(id)
                .pass(41.0)
                .finish(id, &fixture::passed(41.0));
        }
        for (before, columns) in before.iter().zip([39, 59, 79, 199]) {
            let after = drawn(&script, columns);
            assert_eq!(
                places(&after),
                places(before).map(|(slash, _)| (slash, true)),
                "{after}"
            );
        }
    }

    #[test]
    fn of_an_adaptive_run_the_least_is_told() {
        let bounds = terca_core::config::adaptive::Adaptive { min: 2, max: 5 };
        let mut script = Script::adaptive(fixture::heads(2, 2, 5), 1, bounds);
        script.start(1).pass(30.0).finish(1, &fixture::passed(30.0));
        let line = bar(
            &script.state,
            Clock {
                now: script.now,
                since: None,
            },
            79,
        )
        .render(Palette::new(false));
        assert!(line.ends_with("at least 3m 30s left"), "{line}");
    }

    #[test]
    fn estimates_are_rough() {
        for (seconds, text) in [
            (3.2, "3s"),
            (41.0, "40s"),
            (58.0, "1m"),
            (100.0, "1m 30s"),
            (130.0, "2m"),
            (1234.0, "21m"),
            (3590.0, "1h 00m"),
            (7000.0, "1h 55m"),
        ] {
            assert_eq!(roughly(seconds), text, "{seconds}");
        }
    }

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
