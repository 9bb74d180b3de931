//! What did not pass, and where to read on.
//!
//! A thousand failures are a handful of causes: repetitions of one cell that lost for the same reason are one entry,
//! and so are all trials that ended in the same error, wherever they are (a missing key hits every one of
//! them). Trials that were interrupted or never ran are no failures; the closing lines count them.

use camino::Utf8Path;
use terca_core::outcome::Status;
use terca_core::prose;
use terca_core::results::{Results, TrialResult};

use crate::line::{mark, reason, score_text};
use crate::names::Names;
use crate::spans::Spans;
use crate::style::{Palette, Tone};
use crate::width::truncate;

const MOST_LISTED: usize = 20;
/// A message longer than this belongs into the log, whose path stands below it.
const LONGEST_MESSAGE: usize = 300;

/// Empty when everything passed.
pub fn failures(results: &Results, run_dir: &Utf8Path, palette: Palette) -> String {
    let entries = entries(results);
    if entries.is_empty() {
        return String::new();
    }
    let names = Names::of(results.trials.iter().map(|trial| &trial.head));
    let mut text = palette.bold("not passed") + "\n";
    for entry in entries.iter().take(MOST_LISTED) {
        for line in entry.lines(&names, run_dir) {
            text.push_str(&line.render(palette));
            text.push('\n');
        }
    }
    if entries.len() > MOST_LISTED {
        let rest = format!("  … and {} more: terca show {}", entries.len() - MOST_LISTED, results.run);
        text.push_str(&Spans::plain(&rest).render(palette));
        text.push('\n');
    }
    text
}

/// Trials that did not pass for the same reason.
pub(crate) struct Entry<'a> {
    pub(crate) trials: Vec<&'a TrialResult>,
    pub(crate) reason: String,
}

pub(crate) fn entries(results: &Results) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for trial in results.trials.iter().filter(|trial| is_failure(trial.report.status)) {
        let reason = reason(&trial.report);
        let place = *places.entry((group(trial), reason.clone())).or_insert(entries.len());
        if place == entries.len() {
            entries.push(Entry { trials: Vec::new(), reason });
        }
        entries[place].trials.push(trial);
    }
    entries
}

pub(crate) fn is_failure(status: Status) -> bool {
    matches!(status, Status::Partial | Status::Failed | Status::Error)
}

/// What must be equal, beside the reason. The score is among it: half a score for the same reason is another failure.
fn group(trial: &TrialResult) -> (Status, String, Option<[&str; 3]>) {
    let (head, report) = (&trial.head, &trial.report);
    let cell = [head.eval.as_str(), &head.environment, &head.experiment];
    let is_error = report.status == Status::Error;
    (report.status, verdict(trial), (!is_error).then_some(cell))
}

pub(crate) fn verdict(trial: &TrialResult) -> String {
    match trial.report.score {
        Some(score) if trial.report.status.is_judged() => score_text(score),
        _ => trial.report.status.word().to_owned(),
    }
}

impl Entry<'_> {
    fn lines(&self, names: &Names, run_dir: &Utf8Path) -> Vec<Spans> {
        let Some(first) = self.trials.first() else { return Vec::new() };
        let status = first.report.status;
        let lead = format!("{} {:5}", mark(status), verdict(first));
        let mut lines = vec![
            Spans::of(Tone::of_status(status), &lead).with(Tone::Plain, &format!("  {}", self.name(names))),
        ];
        let indent = "         ";
        if !self.reason.is_empty() {
            lines.push(Spans::plain(&format!("{indent}{}", truncate(&self.reason, LONGEST_MESSAGE))));
        }
        let log = run_dir.join(&first.head.dir).join("run.log");
        lines.push(Spans::of(Tone::Dim, &format!("{indent}{log}")));
        lines
    }

    /// `fib gemini.base #02`, `fib gemini.base ×3`, or `24 trials of 6 evals` for an error that is everywhere.
    pub(crate) fn name(&self, names: &Names) -> String {
        let head = &self.trials[0].head;
        let number = self.trials.len();
        if number == 1 {
            return names.trial(head);
        }
        if self.trials.iter().all(|trial| names.cell(&trial.head) == names.cell(head)) {
            return format!("{} ×{number}", names.cell(head));
        }
        let evals: std::collections::BTreeSet<&str> =
            self.trials.iter().map(|trial| trial.head.eval.as_str()).collect();
        format!("{} of {}", prose::count(number, "trial"), prose::count(evals.len(), "eval"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};

    fn shown(script: &Script) -> String {
        failures(&script.results(), "/suite/.terca/runs/2026-11-14-001".into(), Palette::new(false))
    }

    #[test]
    fn repetitions_that_lost_alike_are_one_entry() {
        insta::assert_snapshot!("failures", shown(&fixture::mixed_run()));
    }

    #[test]
    fn a_run_that_passed_has_nothing_to_list() {
        let mut script = Script::new(fixture::heads(2, 1, 1), 1);
        script.start(1).finish(1, &fixture::passed(3.0)).start(2).finish(2, &fixture::interrupted(3.0));
        assert_eq!(shown(&script), "");
    }

    #[test]
    fn an_error_that_is_everywhere_is_said_once() {
        let mut script = Script::new(fixture::heads(50, 4, 5), 1);
        for id in 1..=1_000 {
            script.finish(id, &fixture::error("not signed in"));
        }
        insta::assert_snapshot!("failures_one_error", shown(&script));
    }

    #[test]
    fn a_thousand_failures_stay_readable() {
        let mut script = Script::new(fixture::heads(50, 4, 5), 1);
        for id in 1..=1_000 {
            script.finish(id, &fixture::failed(1.0, "check-file", &format!("missing {}", (id - 1) / 5)));
        }
        let text = shown(&script);
        assert_eq!(text.lines().count(), 1 + 20 * 3 + 1);
        assert!(text.ends_with("  … and 180 more: terca show 2026-11-14-001\n"), "{text}");
    }

    #[test]
    fn long_and_hostile_messages_keep_to_their_line() {
        let mut script = Script::new(fixture::heads(1, 1, 1), 1);
        script.finish(1, &fixture::failed(1.0, "t", &"line\n\u{1b}[2J".repeat(100)));
        let text = shown(&script);
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.lines().nth(2).unwrap().ends_with('…'), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
}
