//! The overall progress, in one line.
//!
//! The line is written in several degrees of detail; the richest that fits is shown, and the bar takes the room
//! that is left. The bar's filled part is coloured by how the trials ended, and the figures beside it say the same.

use jiff::Timestamp;
use terca_core::outcome::Status;
use terca_core::prose;
use terca_core::state::{Counts, RunState};

use crate::line::{clock, mark};
use crate::memo::{Memo, seconds_between};
use crate::spans::Spans;
use crate::style::Tone;

const SHORTEST_BAR: usize = 10;
const LONGEST_BAR: usize = 30;
const GAP: &str = "  ";

pub fn bar(state: &RunState, memo: &Memo, now: Timestamp, columns: usize) -> Spans {
    let counts = &state.counts;
    let elapsed = elapsed(state, now);
    let left = left(state, memo, now);
    let progress = progress(counts);
    let candidates = [
        (true, join([progress.clone(), in_words(counts), elapsed.clone(), left.clone()])),
        (true, join([progress.clone(), in_marks(counts), elapsed.clone(), left])),
        (true, join([progress.clone(), in_marks(counts), elapsed.clone(), Spans::new()])),
        (false, join([progress.clone(), in_marks(counts), elapsed, Spans::new()])),
        (false, join([progress.clone(), in_marks(counts), Spans::new(), Spans::new()])),
    ];
    for (with_bar, figures) in candidates {
        let room = columns.saturating_sub(figures.width());
        if with_bar && room >= SHORTEST_BAR + GAP.len() {
            return join([gauge(counts, (room - GAP.len()).min(LONGEST_BAR)), figures]);
        }
        if !with_bar && figures.width() <= columns {
            return figures;
        }
    }
    progress
}

/// `31/40  78%`.
fn progress(counts: &Counts) -> Spans {
    let finished = counts.finished();
    let percentage = finished * 100 / counts.total.max(1);
    Spans::of(Tone::Bold, &format!("{finished}/{}", counts.total))
        .with(Tone::Plain, &format!("{GAP}{percentage}%"))
}

/// How trials ended, and how many did; only what there is.
fn endings(counts: &Counts) -> impl Iterator<Item = (Status, usize)> {
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
fn in_words(counts: &Counts) -> Spans {
    let mut words = Spans::new();
    for (status, number) in endings(counts) {
        if !words.is_empty() {
            words.push(Tone::Dim, " · ");
        }
        words.push(Tone::of_status(status), &ending(status, number));
    }
    words
}

/// `25 passed`, `1 error`, `2 errors`.
pub fn ending(status: Status, number: usize) -> String {
    match status {
        Status::Error => prose::count(number, "error"),
        _ => format!("{number} {}", status.word()),
    }
}

/// `✓ 25  ◐ 2  ! 1`.
fn in_marks(counts: &Counts) -> Spans {
    let mut marks = Spans::new();
    for (status, number) in endings(counts) {
        if !marks.is_empty() {
            marks.push(Tone::Plain, GAP);
        }
        marks.push(Tone::of_status(status), &format!("{} {number}", mark(status)));
    }
    marks
}

fn elapsed(state: &RunState, now: Timestamp) -> Spans {
    let Some(since) = state.started_at else { return Spans::new() };
    Spans::of(Tone::Dim, &clock(seconds_between(since, now)))
}

/// Nothing when stopping: what waits will not run.
fn left(state: &RunState, memo: &Memo, now: Timestamp) -> Spans {
    let seconds = if state.stopping.is_some() { None } else { memo.pace.seconds_left(state, now) };
    seconds.map_or(Spans::new(), |seconds| Spans::of(Tone::Dim, &format!("about {} left", roughly(seconds))))
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
        _ => clock(rounded),
    }
}

/// The bar itself. Boundaries are rounded down, so that only a finished run fills it.
fn gauge(counts: &Counts, columns: usize) -> Spans {
    let mut gauge = Spans::new();
    let (mut finished, mut filled) = (0, 0);
    for (status, number) in endings(counts) {
        finished += number;
        let end = finished * columns / counts.total.max(1);
        gauge.push(Tone::of_status(status), &"━".repeat(end - filled));
        filled = end;
    }
    gauge.with(Tone::Dim, &"─".repeat(columns - filled))
}

fn join<const N: usize>(parts: [Spans; N]) -> Spans {
    let mut joined = Spans::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !joined.is_empty() {
            joined.push(Tone::Plain, GAP);
        }
        joined.append(part);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Palette;

    #[test]
    fn only_a_finished_run_fills_the_bar() {
        for (passed, failed, total, drawn) in [
            (0, 0, 10, "──────────"),
            (5, 0, 10, "━━━━━─────"),
            (996, 3, 1000, "━━━━━━━━━─"),
            (997, 3, 1000, "━━━━━━━━━━"),
            (0, 0, 0, "──────────"),
        ] {
            let counts = Counts { total, passed, failed, ..Counts::default() };
            assert_eq!(gauge(&counts, 10).render(Palette::new(false)), drawn, "{passed}+{failed}/{total}");
        }
    }

    #[test]
    fn the_bar_shows_how_trials_ended() {
        let counts = Counts { total: 4, passed: 2, failed: 1, ..Counts::default() };
        assert_eq!(
            gauge(&counts, 4).render(Palette::new(true)),
            "\u{1b}[32m━━\u{1b}[0m\u{1b}[31m━\u{1b}[0m\u{1b}[2m─\u{1b}[0m"
        );
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
}
