//! The live part of the display, as lines: a pure function of the run, the time and the screen.
//!
//! ```text
//!
//! · agent  fib  gemini.with-rules #02     41s  20.5k tokens  $ npm test
//! · setup  sum  gemini.base       #01      1s
//! ━━━━━━━━━━━━━━━━━━━━━━━───────  31/40   78%  2m 10s  about 40s left
//! 25 passed · 2 partial · 3 failed · 1 error  312.0k tokens  $0.820
//! ```
//!
//! Its cost depends on what is in flight, never on how many trials the run has.

use terca_core::run::event::StopReason;
use terca_core::run::state::RunState;
use terca_core::text::prose;

use crate::live::bar::{bar, counts_line, only};
use crate::live::layout::Layout;
use crate::live::time_limits::{Clock, TimeLimits};
use crate::live::trial_line;
use crate::names::Names;
use crate::term::{Palette, Role, Size, StyledLine, dim, styled};

/// From this height on, an empty line sets the frame apart from what scrolls above it, and progress takes two lines.
const TALL: usize = 12;

/// The line that names the keys.
const KEYS: &str = "q stop · ? keys";

/// The things that a frame shows beside the run itself.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    pub clock: Clock,
    pub limits: &'a TimeLimits,
    /// Keys are heard.
    pub keys: bool,
}

/// At most `rows - 1` lines, none wider than `columns - 1`.
pub fn frame(
    state: &RunState,
    names: &Names,
    shown: Shown<'_>,
    size: Size,
    palette: Palette,
) -> Vec<String> {
    let Shown { clock, limits, .. } = shown;
    let columns = size.usable_columns();
    let mut lines = footer(state, shown, size);
    // What cannot be shown is dropped from the top: the bar is the last to go.
    let most = most_lines(size.rows);
    let excess = lines.len().saturating_sub(most);
    lines.drain(..excess);
    let room = most - lines.len();
    let mut whole = trials(state, names, (clock, limits), columns, room);
    whole.append(&mut lines);
    if size.rows >= TALL {
        whole.insert(0, StyledLine::default());
    }
    whole
        .iter()
        .map(|line| line.fit(columns).render(palette))
        .collect()
}

/// On a low screen all but one. On a tall one less than half: finished trials stay in sight, and when a window is
/// split, so that a terminal rewraps every line to two rows, the old frame still fits the screen and can be erased.
fn most_lines(rows: usize) -> usize {
    if rows >= TALL {
        rows * 2 / 5 + 1
    } else {
        rows.saturating_sub(1)
    }
}

/// The oldest trials in flight, and how many more there are.
fn trials(
    state: &RunState,
    names: &Names,
    (clock, limits): (Clock, &TimeLimits),
    columns: usize,
    room: usize,
) -> Vec<StyledLine> {
    let layout = Layout::new(names, state.reports_tokens(), columns);
    let all = state.in_flight().len();
    let shown = if all <= room {
        all
    } else {
        room.saturating_sub(1)
    };
    let mut lines: Vec<StyledLine> = state
        .in_flight()
        .take(shown)
        .filter_map(|trial| {
            let live = trial.live.as_ref()?;
            Some(trial_line::in_flight(
                &trial.head, live, names, clock.now, limits, &layout,
            ))
        })
        .collect();
    if shown < all && room > 0 {
        lines.push(dim(&rest(shown, all)));
    }
    lines
}

fn rest(shown: usize, all: usize) -> String {
    if shown == 0 {
        format!("… {all} in flight")
    } else {
        format!("… and {} more", all - shown)
    }
}

fn footer(state: &RunState, shown: Shown<'_>, size: Size) -> Vec<StyledLine> {
    let clock = shown.clock;
    let columns = size.usable_columns();
    let mut lines = Vec::new();
    lines.extend(
        state
            .stopping()
            .map(|reason| stopping(reason, state.in_flight().len())),
    );
    if size.rows < TALL {
        lines.push(only(state, clock, columns));
        return lines;
    }
    lines.push(bar(state, clock, columns));
    lines.extend(Some(counts_line(state, columns)).filter(|tally| !tally.is_empty()));
    if shown.keys {
        lines.push(dim(KEYS));
    }
    lines
}

fn stopping(reason: StopReason, in_flight: usize) -> StyledLine {
    let waiting = format!("stopping, waiting for {}", prose::count(in_flight, "trial"));
    let way_out = match reason {
        StopReason::Interrupted => " (Ctrl+C again to leave at once)",
        StopReason::FailFast | StopReason::Budget | StopReason::NoWorkers => {
            " (Ctrl+C to stop them)"
        }
    };
    styled(Role::Fair, &waiting).plain(way_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::width;

    fn draw(script: &Script, columns: usize, rows: usize, colour: bool) -> Vec<String> {
        let names = Names::of_run(&script.state);
        frame(
            &script.state,
            &names,
            Shown {
                clock: Clock {
                    now: script.now,
                    since: None,
                },
                limits: &TimeLimits::default(),
                keys: false,
            },
            Size { columns, rows },
            Palette::new(colour),
        )
    }

    #[test]
    fn frames_at_several_sizes() {
        let script = fixture::busy_run();
        for (columns, rows) in [
            (200, 50),
            (120, 40),
            (80, 24),
            (80, 12),
            (120, 8),
            (80, 8),
            (60, 24),
            (40, 24),
            (40, 10),
            (20, 3),
        ] {
            let lines = draw(&script, columns, rows, false);
            insta::assert_snapshot!(format!("frame_{columns}x{rows}"), lines.join("\n"));
        }
    }

    #[test]
    fn a_frame_in_colour() {
        let lines = draw(&fixture::busy_run(), 120, 40, true);
        insta::assert_snapshot!("frame_colour", lines.join("\n").replace('\u{1b}', "␛"));
    }

    #[test]
    fn a_frame_before_anything_is_finished() {
        let mut script = Script::new(fixture::heads(2, 1, 1), 2);
        script.start(1).pass(1.4).start(2).pass(0.7);
        insta::assert_snapshot!(
            "frame_at_the_start",
            draw(&script, 80, 24, false).join("\n")
        );
    }

    #[test]
    fn stopping_says_what_is_waited_for() {
        let mut script = fixture::busy_run();
        script.stop(StopReason::Interrupted);
        insta::assert_snapshot!(
            "frame_stopping_80x10",
            draw(&script, 80, 10, false).join("\n")
        );
        insta::assert_snapshot!(
            "frame_stopping_40x4",
            draw(&script, 40, 4, false).join("\n")
        );
    }

    #[test]
    fn a_frame_fits_every_screen() {
        let mut crowded = Script::new(fixture::heads(64, 4, 4), 64);
        for id in 1..=64 {
            crowded.start(id).pass(61.0).doing(
                id,
                "日本語 に ほんご 👩‍👧 and a long explanation of it all",
                1_234_567,
            );
        }
        let mut stopping = fixture::busy_run();
        stopping.stop(StopReason::FailFast);
        for script in [
            &crowded,
            &stopping,
            &fixture::busy_run(),
            &Script::new(Vec::new(), 1),
        ] {
            for columns in (0..30).chain((30..140).step_by(7)).chain(58..62) {
                for rows in (0..8).chain([11, 12, 13, 24, 50]) {
                    let lines = draw(script, columns, rows, false);
                    assert!(
                        lines.len() < rows.max(1),
                        "{} lines in {rows} rows",
                        lines.len()
                    );
                    for line in &lines {
                        assert!(width(line) < columns.max(1), "{columns} columns: {line:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_frame_that_is_rewrapped_to_half_the_width_can_be_erased() {
        let mut crowded = Script::new(fixture::heads(64, 4, 4), 64);
        for id in 1..=64 {
            crowded.start(id).doing(id, &"long ".repeat(40), 1_234_567);
        }
        for rows in TALL..100 {
            let after: usize = draw(&crowded, 120, rows, false)
                .iter()
                .map(|line| width(line).div_ceil(60).max(1))
                .sum();
            assert!(after <= rows, "{after} of {rows}");
        }
    }

    #[test]
    fn the_bar_is_the_last_to_go() {
        let script = fixture::busy_run();
        let lines = draw(&script, 80, 2, false);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("16/40"), "{lines:?}");
    }

    #[test]
    fn hostile_activity_stays_on_its_line() {
        let mut script = Script::new(vec![fixture::head(1, "a\u{1b}[2Jb\nc", "e\rv", "x", 1)], 1);
        script
            .start(1)
            .doing(1, "one\ntwo \u{1b}]0;title\u{7} \u{202e}three", 5);
        let lines = draw(&script, 200, 24, false);
        assert!(
            lines.iter().all(|line| !line.chars().any(char::is_control)),
            "{lines:?}"
        );
        assert_eq!(
            lines.len(),
            4,
            "a gap, the trial, the bar and the tokens: {lines:?}"
        );
    }
}
