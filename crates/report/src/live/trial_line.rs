//! One trial in one line.
//!
//! Finished trials and trials in flight have the same columns, so that a line that scrolls away looks like the
//! one it came from:
//!
//! ```text
//! ✓ 1.00   fib  gemini.with-rules #02     41s  20.5k tokens
//! ✗ 0.00   fib  gemini.base       #02  1m 05s   8.1k tokens  check-file: fib.js does not exist
//! · agent  sum  gemini.base       #01     12s   3.0k tokens  $ npm test
//! · agent  sum  gemini.base       #02      3s   1.0k tokens  n1: $ npm test
//! ```
//!
//! The mark, the word and the message say everything that the colour says.

use jiff::Timestamp;
use terca_core::analysis::metrics::UNKNOWN;
use terca_core::run::event::{Phase, TrialHead};
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::run::state::Live;
use terca_core::text::prose;

use crate::live::layout::{GAP, Layout, NUMBER_COLUMNS, TIME_COLUMNS, WORD_COLUMNS};

use crate::live::time_limits::{TimeLimits, growing, seconds_between};
use crate::names::Names;
use crate::outcome::{mark, reason, verdict};
use crate::term::{Role, StyledLine, dim, pad, pad_left, styled};

/// A message is not begun in less than this.
const SHORTEST_DETAIL: usize = 8;
/// The mark of a trial in flight. It does not move: the time beside it moves enough.
const IN_FLIGHT: &str = "·";

/// A trial that is over.
pub fn finished(
    head: &TrialHead,
    report: &TrialReport,
    names: &Names,
    layout: &Layout,
) -> StyledLine {
    let room = layout.max_width;
    let lead = format!("{} {}", mark(report.status), lead_word(report));
    let lead = styled(Role::of_status(report.status), &lead);
    let passed = report.status == Status::Passed;
    let role = if passed { Role::Dim } else { Role::Plain };
    let why = styled(role, &reason(report));
    if layout.is_narrow() {
        let mut line = lead;
        line.pad_to(2 + WORD_COLUMNS);
        let left = room.saturating_sub(line.width() + 1);
        let line = line.plain(&format!(" {}", names.within(head, left)));
        return detail(line, why, room);
    }
    let named = named(lead, head, names, layout);
    let mut timed = named.clone();
    timed.append(time(&prose::duration(report.duration_seconds)));
    let mut whole = timed.clone();
    whole.append(tokens(report.stats.usage.tokens(), layout));
    let fits = |line: &StyledLine| passed || line.width() + GAP.len() + why.width() <= room;
    // Why it failed says more than how long that took, and the figures are in the results.
    let line = [whole, timed].into_iter().find(fits).unwrap_or(named);
    detail(line, why, room)
}

/// A trial in flight.
pub fn in_flight(
    head: &TrialHead,
    live: &Live,
    names: &Names,
    now: Timestamp,
    limits: &TimeLimits,
    layout: &Layout,
) -> StyledLine {
    let slow = limits.slow(head.id, live, now);
    let age = time(&growing(seconds_between(live.since, now)));
    let stage = stage(live.phase);
    let doing = doing(head, live);
    let doing = match slow {
        Some(slow) => styled(Role::Fair, &slow).with(Role::Dim, &format!(": {doing}")),
        None if doing.is_empty() && layout.is_narrow() => dim(stage),
        None => dim(&doing),
    };
    if layout.is_narrow() {
        let line = dim(IN_FLIGHT).plain(" ");
        let left = layout.max_width;
        let left = left.saturating_sub(line.width() + age.width());
        let columns = left.min(names.longest());
        let mut line = line.plain(&pad(&names.within(head, columns), columns));
        line.append(age);
        return detail(line, doing, layout.max_width);
    }
    let lead = dim(&format!("{IN_FLIGHT} {stage}"));
    let mut line = named(lead, head, names, layout);
    line.append(age);
    line.append(tokens(live.usage.tokens(), layout));
    detail(line, doing, layout.max_width)
}

/// The beginning of a line: verdict or phase, and the name in columns.
fn named(lead: StyledLine, head: &TrialHead, names: &Names, layout: &Layout) -> StyledLine {
    let mut line = lead;
    line.pad_to(2 + WORD_COLUMNS);
    line.plain(&format!("{GAP}{}", layout.name(names, head)))
}

fn time(text: &str) -> StyledLine {
    dim(&format!("{GAP}{}", pad_left(text, TIME_COLUMNS)))
}

fn tokens(number: Option<u64>, layout: &Layout) -> StyledLine {
    let Some(unit) = layout.unit else {
        return StyledLine::default();
    };
    let text = number.map(|number| format!("{} {unit}", prose::compact(number)));
    let columns = NUMBER_COLUMNS + 1 + unit.len();
    let text = pad_left(&text.unwrap_or_default(), columns);
    dim(&format!("{GAP}{text}"))
}

/// The end of a line, as much as there is room for.
fn detail(mut line: StyledLine, detail: StyledLine, room: usize) -> StyledLine {
    let left = room.saturating_sub(line.width() + GAP.len());
    if !detail.is_empty() && (left >= SHORTEST_DETAIL || left >= detail.width()) {
        line.push(Role::Plain, GAP);
        line.append(detail);
    }
    line.fit(room)
}

/// The score, or the word for there being none.
fn lead_word(report: &TrialReport) -> String {
    if report.status == Status::Interrupted {
        UNKNOWN.to_owned()
    } else {
        verdict(report)
    }
}

/// The node of its worker, and what is done there.
fn doing(head: &TrialHead, live: &Live) -> String {
    let doing = match live.phase {
        _ if !live.doing.is_empty() => live.doing.as_str(),
        Phase::Agent => &head.agent,
        _ => "",
    };
    match &live.on {
        Some(node) if doing.is_empty() => node.clone(),
        Some(node) => format!("{node}: {doing}"),
        None => doing.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::{Palette, UNLIMITED};

    fn lines(room: usize) -> String {
        let mut script = Script::new(fixture::heads(2, 2, 2), 2);
        let reports = [
            fixture::passed(41.2),
            fixture::failed(65.0, "check-file", "fib.js does not exist"),
            fixture::partial(9.0, 0.5),
            fixture::error("exit status 1"),
            fixture::interrupted(12.0),
            TrialReport {
                timed_out: true,
                ..fixture::failed(300.0, "check-file", "fib.js does not exist")
            },
            TrialReport {
                attempts: 2,
                ..fixture::passed(4000.0)
            },
        ];
        for (id, report) in (1..).zip(&reports) {
            script.start(id).finish(id, report);
        }
        let names = Names::of_run(&script.state);
        let layout = Layout::new(&names, true, room);
        let lines: Vec<String> = script.state.trials()[..reports.len()]
            .iter()
            .map(|trial| {
                finished(&trial.head, &trial.report, &names, &layout).render(Palette::new(false))
            })
            .collect();
        lines.join("\n")
    }

    #[test]
    fn trials_on_workers() {
        let mut script = Script::new(fixture::heads(1, 2, 2), 3);
        script.start_on(1, "n1").start_on(2, "n2").start_on(3, "n3");
        script.phase(2, Phase::Agent).phase(3, Phase::Agent);
        script.doing(3, "$ npm test", 900);
        let names = Names::of_run(&script.state);
        let now = script
            .state
            .in_flight()
            .filter_map(|trial| Some(trial.live.as_ref()?.since));
        let now = now.max().unwrap();
        let mut shown = Vec::new();
        for room in [UNLIMITED, 40] {
            let layout = Layout::new(&names, true, room);
            for trial in script.state.in_flight() {
                let live = trial.live.as_ref().unwrap();
                let limits = TimeLimits::default();
                let line = in_flight(&trial.head, live, &names, now, &limits, &layout);
                shown.push(line.render(Palette::new(false)));
            }
        }
        insta::assert_snapshot!("on_workers", shown.join("\n"));
    }

    #[test]
    fn finished_trials() {
        insta::assert_snapshot!("finished_unlimited", lines(UNLIMITED));
        insta::assert_snapshot!("finished_80", lines(80));
        insta::assert_snapshot!("finished_40", lines(40));
    }
}
