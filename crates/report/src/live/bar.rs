//! The overall progress, in one line: how far the run is, for how long it has been going on, and for how long it will.
//!
//! The line has a form for every width, and in each form everything has its place: what is shown may come and go and
//! grow, and the bar stays as long as it was. The bar's filled part is coloured by how the trials ended.

use terca_core::run::state::{Counts, RunState};

use crate::live::counts_line::{cost, endings, in_marks, join, so_far};
use crate::live::eta::seconds_left;
use crate::live::layout::{GAP, TIME_COLUMNS};
use crate::live::time_limits::{Clock, growing, seconds_between};
use crate::term::style::Role;
use crate::term::styled_line::StyledLine;
use crate::term::width::{pad_left, width};

const SHORTEST_BAR: usize = 8;
const LONGEST_BAR: usize = 30;
/// `1h 55m left`.
const LEFT_COLUMNS: usize = 11;
/// `at least ` and `about `.
const HEDGE_COLUMNS: usize = 9;

/// The parts that there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    percentage: bool,
    hedge: bool,
    left: bool,
}

const FORMS: [Form; 3] = [
    Form {
        percentage: true,
        hedge: true,
        left: true,
    },
    Form {
        percentage: false,
        hedge: false,
        left: true,
    },
    Form {
        percentage: false,
        hedge: false,
        left: false,
    },
];

/// For a screen that has another line for how trials ended.
pub fn bar(state: &RunState, clock: Clock, columns: usize) -> StyledLine {
    let counts = &so_far(state);
    for form in FORMS {
        let figures = fraction(counts).width()
            + usize::from(form.percentage) * (GAP.len() + 4)
            + GAP.len()
            + TIME_COLUMNS
            + usize::from(form.left) * (GAP.len() + LEFT_COLUMNS)
            + usize::from(form.hedge) * HEDGE_COLUMNS;
        let room = columns.saturating_sub(figures + GAP.len());
        if room >= SHORTEST_BAR {
            let percentage = if form.percentage {
                percentage(counts)
            } else {
                StyledLine::new()
            };
            let left = if form.left {
                left(state, clock, form.hedge)
            } else {
                StyledLine::new()
            };
            let gauge = gauge(counts, room.min(LONGEST_BAR));
            return join([
                gauge,
                fraction(counts),
                percentage,
                elapsed(state, clock),
                left,
            ]);
        }
    }
    without_gauge(state, clock, columns)
}

/// For a screen that has no other line: the counts are told here, and the bar goes first.
pub fn only(state: &RunState, clock: Clock, columns: usize) -> StyledLine {
    let counts = &so_far(state);
    let told = |more: StyledLine| {
        join([
            fraction(counts),
            in_marks(counts),
            elapsed(state, clock),
            more,
        ])
    };
    let left = left(state, clock, true);
    for figures in [
        told(join([left.clone(), cost(state)])),
        told(left),
        told(StyledLine::new()),
    ] {
        let room = columns.saturating_sub(figures.width() + GAP.len());
        if room >= SHORTEST_BAR {
            return join([gauge(counts, room.min(LONGEST_BAR)), figures]);
        }
    }
    without_gauge(state, clock, columns)
}

fn without_gauge(state: &RunState, clock: Clock, columns: usize) -> StyledLine {
    let counts = &so_far(state);
    let fraction = fraction(counts);
    let marks = in_marks(counts);
    let candidates = [
        join([fraction.clone(), marks.clone(), elapsed(state, clock)]),
        join([fraction.clone(), marks]),
        join([fraction.clone(), elapsed(state, clock)]),
    ];
    candidates
        .into_iter()
        .find(|line| line.width() <= columns)
        .unwrap_or(fraction)
}

/// `31/40`.
fn fraction(counts: &Counts) -> StyledLine {
    let total = counts.total.to_string();
    let finished = pad_left(&counts.finished().to_string(), width(&total));
    StyledLine::of(Role::Bold, &format!("{finished}/{total}"))
}

/// ` 78%`.
fn percentage(counts: &Counts) -> StyledLine {
    StyledLine::plain(&format!(
        "{:>3}%",
        counts.finished() * 100 / counts.total.max(1)
    ))
}

fn elapsed(state: &RunState, clock: Clock) -> StyledLine {
    let Some(since) = clock.since.or(state.started_at()) else {
        return StyledLine::new();
    };
    StyledLine::of(
        Role::Dim,
        &pad_left(&growing(seconds_between(since, clock.now)), TIME_COLUMNS),
    )
}

/// Nothing when stopping: what waits will not run. Of a run that adds repetitions as it needs them only the least is
/// known.
fn left(state: &RunState, clock: Clock, hedged: bool) -> StyledLine {
    let seconds = if state.stopping().is_some() {
        None
    } else {
        seconds_left(state, clock.now)
    };
    let hedge = match (hedged, state.spare().is_empty()) {
        (false, _) => "",
        (true, true) => "about ",
        (true, false) => "at least ",
    };
    seconds.map_or(StyledLine::new(), |seconds| {
        StyledLine::of(Role::Dim, &format!("{hedge}{} left", roughly(seconds)))
    })
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
    let mut gauge = StyledLine::new();
    let (mut finished, mut filled) = (0, 0);
    for (status, number) in endings(counts) {
        finished += number;
        let end = finished * columns / counts.total.max(1);
        gauge.push(Role::of_status(status), &"━".repeat(end - filled));
        filled = end;
    }
    gauge.with(Role::Dim, &"─".repeat(columns - filled))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::style::Palette;

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
}
