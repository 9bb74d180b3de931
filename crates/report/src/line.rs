//! One trial in one line.
//!
//! Finished trials and trials in flight have the same columns, so that a line that scrolls away looks like the
//! one it came from:
//!
//! ```text
//! ✓ 1.00   fib  gemini.with-rules #02     41s  20.5k tokens
//! ✗ 0.00   fib  gemini.base       #02  1m 05s   8.1k tokens  check-file: fib.js does not exist
//! ⠹ agent  sum  gemini.base       #01     12s   3.0k tokens  run_shell_command npm test
//! ```
//!
//! The mark, the word and the message say everything that the colour says.

use jiff::Timestamp;
use terca_core::event::{Phase, TrialHead};
use terca_core::outcome::{Status, TrialReport};
use terca_core::prose;
use terca_core::state::Live;

use crate::memo::{Memo, seconds_between};
use crate::spans::Spans;
use crate::style::Tone;
use crate::width::{pad, pad_left, width};

/// Below this there is no room for columns.
const NARROW: usize = 60;
/// Below this units are short.
const ROOMY: usize = 100;
/// `0.50` and `agent`.
const WORD_COLUMNS: usize = 5;
/// `1m 05s`.
const TIME_COLUMNS: usize = 6;
/// `999.9k`.
const NUMBER_COLUMNS: usize = 6;
const GAP: &str = "  ";
/// A message is not begun in less than this.
const SHORTEST_DETAIL: usize = 8;

const SPINNER: [&str; 8] = ["⣷", "⣯", "⣟", "⡿", "⢿", "⣻", "⣽", "⣾"];
const SPINNER_STEP_MILLISECONDS: i64 = 125;

/// How much room a line has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// A file or a pipe: nothing is cut.
    Unlimited,
    /// A screen.
    Columns(usize),
}

impl Room {
    fn columns(self) -> usize {
        match self {
            Room::Unlimited => usize::MAX,
            Room::Columns(columns) => columns,
        }
    }
}

/// A trial that is over.
pub fn finished(head: &TrialHead, report: &TrialReport, memo: &Memo, room: Room) -> Spans {
    let lead =
        Spans::of(Tone::of_status(report.status), &format!("{} {}", mark(report.status), verdict(report)));
    let passed = report.status == Status::Passed;
    let why = Spans::of(if passed { Tone::Dim } else { Tone::Plain }, &reason(report));
    if room.columns() < NARROW {
        return narrow(lead, head, memo, why, room);
    }
    let named = named(lead, head, memo, room);
    let time = time(&prose::duration(report.duration_seconds));
    let tokens = tokens(report.stats.usage.tokens(), memo, room);
    let with = |figures: &[&Spans]| {
        let mut line = named.clone();
        figures.iter().for_each(|figure| line.append((*figure).clone()));
        line
    };
    let fits = |line: &Spans| passed || line.width() + GAP.len() + why.width() <= room.columns();
    // Why it failed says more than how long that took, and the figures are in the results.
    let lines = [with(&[&time, &tokens]), with(&[&time])];
    let line = lines.into_iter().find(fits).unwrap_or(named);
    detail(line, why, room)
}

/// A trial in flight.
pub fn in_flight(head: &TrialHead, live: &Live, memo: &Memo, now: Timestamp, columns: usize) -> Spans {
    let room = Room::Columns(columns);
    let age = clock(seconds_between(live.since, now));
    if columns < NARROW {
        let mut line = Spans::of(Tone::Dim, spinner(now)).with(Tone::Plain, " ");
        let left = columns.saturating_sub(line.width() + 1 + width(&age));
        line.push(Tone::Plain, &pad(&memo.names.within(head, left), left));
        return line.with(Tone::Dim, &format!(" {age}")).fit(columns);
    }
    let lead = Spans::of(Tone::Dim, &format!("{} {}", spinner(now), stage(live.phase)));
    let mut line = named(lead, head, memo, room);
    line.append(time(&age));
    line.append(tokens(live.usage.tokens(), memo, room));
    detail(line, Spans::of(Tone::Dim, &doing(head, live)), room)
}

/// The verdict and the name, and why if there is room.
fn narrow(lead: Spans, head: &TrialHead, memo: &Memo, why: Spans, room: Room) -> Spans {
    let mut line = lead;
    line.pad_to(2 + WORD_COLUMNS);
    line.push(Tone::Plain, " ");
    line.push(Tone::Plain, &memo.names.within(head, room.columns().saturating_sub(line.width())));
    detail(line, why, room)
}

/// What a line begins with: verdict or phase, and the name in columns.
fn named(lead: Spans, head: &TrialHead, memo: &Memo, room: Room) -> Spans {
    let mut line = lead;
    line.pad_to(2 + WORD_COLUMNS);
    let name = match room {
        Room::Unlimited => memo.names.aligned(head),
        Room::Columns(columns) => memo.names.aligned_within(head, columns / 4),
    };
    line.with(Tone::Plain, &format!("{GAP}{name}"))
}

fn time(text: &str) -> Spans {
    Spans::of(Tone::Dim, &format!("{GAP}{}", pad_left(text, TIME_COLUMNS)))
}

fn tokens(number: Option<u64>, memo: &Memo, room: Room) -> Spans {
    if !memo.tokens {
        return Spans::new();
    }
    let unit = if room.columns() < ROOMY { "tok" } else { "tokens" };
    let text = number.map_or(String::new(), |number| format!("{} {unit}", prose::compact(number)));
    Spans::of(Tone::Dim, &format!("{GAP}{}", pad_left(&text, NUMBER_COLUMNS + 1 + unit.len())))
}

/// What a line ends with, as much as there is room for.
fn detail(mut line: Spans, detail: Spans, room: Room) -> Spans {
    let left = room.columns().saturating_sub(line.width() + GAP.len());
    if !detail.is_empty() && (left >= SHORTEST_DETAIL || left >= detail.width()) {
        line.push(Tone::Plain, GAP);
        line.append(detail);
    }
    line.fit(room.columns())
}

pub fn mark(status: Status) -> &'static str {
    match status {
        Status::Passed => "✓",
        Status::Partial => "◐",
        Status::Failed => "✗",
        Status::Error => "!",
        Status::Interrupted | Status::Pending => "-",
    }
}

/// The score, or the word for there being none.
fn verdict(report: &TrialReport) -> String {
    match report.score {
        Some(score) if report.status.is_judged() => score_text(score),
        _ if report.status == Status::Interrupted => "–".to_owned(),
        _ => report.status.word().to_owned(),
    }
}

/// Two digits, but never `1.00` for what is less, nor `0.00` for what is more.
pub fn score_text(score: f64) -> String {
    let shown = match Status::of_score(score) {
        Status::Partial => score.clamp(0.01, 0.99),
        _ => score,
    };
    format!("{shown:.2}")
}

/// Why the trial ended as it did: empty when it simply passed.
pub fn reason(report: &TrialReport) -> String {
    let mut reasons = Vec::new();
    if report.status == Status::Interrupted {
        reasons.push(report.status.word().to_owned());
    }
    if report.timed_out {
        reasons.push("timed out".to_owned());
    }
    if let Some(error) = &report.error {
        reasons.push(format!("{}: {}", error.kind.word(), error.message));
    } else if let Some((test, grade)) = report.tests.first_loss() {
        reasons.push(format!("{test}: {}", grade.message));
    } else if let (Status::Failed, Some(code), false) = (report.status, report.exit_code, report.timed_out) {
        reasons.push(format!("exit status {code}"));
    }
    reasons.extend(report.notes.iter().cloned());
    if report.attempts > 1 {
        reasons.push(format!("after {}", prose::count(report.attempts as usize, "attempt")));
    }
    reasons.join("; ")
}

fn doing(head: &TrialHead, live: &Live) -> String {
    match live.phase {
        _ if !live.doing.is_empty() => live.doing.clone(),
        Phase::Agent => head.agent.clone(),
        _ => String::new(),
    }
}

/// The phase in five letters, where a finished trial has its score.
fn stage(phase: Phase) -> &'static str {
    match phase {
        Phase::Setup => "setup",
        Phase::Agent => "agent",
        Phase::Tests => "tests",
        Phase::Collect => "save",
    }
}

pub fn spinner(now: Timestamp) -> &'static str {
    let step = (now.as_millisecond() / SPINNER_STEP_MILLISECONDS).rem_euclid(SPINNER.len() as i64);
    SPINNER[step as usize]
}

/// A time that is still growing, in whole seconds: tenths would flicker.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.floor();
    if whole < 60.0 { format!("{whole:.0}s") } else { prose::duration(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use crate::style::Palette;

    fn lines(room: Room) -> String {
        let mut script = Script::new(fixture::heads(2, 2, 2), 2);
        let reports = [
            fixture::passed(41.2),
            fixture::failed(65.0, "check-file", "fib.js does not exist"),
            fixture::partial(9.0, 0.5),
            fixture::error("exit status 1"),
            fixture::interrupted(12.0),
            TrialReport { timed_out: true, ..fixture::failed(300.0, "check-file", "fib.js does not exist") },
            TrialReport { attempts: 2, ..fixture::passed(4000.0) },
        ];
        for (id, report) in (1..).zip(&reports) {
            script.start(id).finish(id, report);
        }
        let memo = Memo::of(&script.state);
        let lines: Vec<String> = script.state.trials[..reports.len()]
            .iter()
            .map(|trial| finished(&trial.head, &trial.report, &memo, room).render(Palette::new(false)))
            .collect();
        lines.join("\n")
    }

    #[test]
    fn finished_trials() {
        insta::assert_snapshot!("finished_unlimited", lines(Room::Unlimited));
        insta::assert_snapshot!("finished_80", lines(Room::Columns(80)));
        insta::assert_snapshot!("finished_40", lines(Room::Columns(40)));
    }

    #[test]
    fn a_score_is_never_rounded_to_another_verdict() {
        for (score, text) in [(1.0, "1.00"), (0.999, "0.99"), (0.5, "0.50"), (0.001, "0.01"), (0.0, "0.00")] {
            assert_eq!(score_text(score), text);
        }
    }

    #[test]
    fn an_agent_that_merely_failed_says_how() {
        let report = TrialReport {
            tests: Default::default(),
            exit_code: Some(3),
            ..fixture::failed(1.0, "unused", "unused")
        };
        assert_eq!(reason(&report), "exit status 3");
    }

    #[test]
    fn growing_times_do_not_flicker() {
        assert_eq!([0.4, 9.96, 59.9, 65.2].map(clock), ["0s", "9s", "59s", "1m 05s"]);
    }
}
