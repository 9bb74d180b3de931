//! The trials that did not pass, and where to read on.
//!
//! A thousand failures are a handful of causes: repetitions of one cell that lost for the same reason are one entry,
//! and so are all trials that ended in the same error, wherever they are (a missing key hits every one of
//! them). Trials that were interrupted or never ran are no failures; the closing lines count them.

use std::collections::BTreeSet;

use terca_core::analysis::results::{Results, TrialResult};
use terca_core::run::outcome::Status;
use terca_core::text::prose;

use crate::context::Context;
use crate::groups::grouped;
use crate::names::Names;
use crate::outcome::{mark, reasons, verdict};
use crate::term::{Answer, Role, bold, dim, plain, spaces, styled, truncate, width};

const MOST_LISTED: usize = 20;
const FEW: usize = 5;
/// Below the name.
const INDENT: usize = 9;
const SMALL_INDENT: usize = 2;
/// A longer message is only in the log, whose path is below it.
const LONGEST_MESSAGE: usize = 300;
/// More reasons of one trial than this are counted.
const MOST_REASONS: usize = 8;

/// Empty when everything passed.
pub fn failures(results: &Results, here: Context<'_>) -> Answer {
    listed(results, &entries(results), MOST_LISTED, here)
}

/// The failures for the end of a run: where there are many, only the first few.
pub fn brief_failures(results: &Results, here: Context<'_>) -> Answer {
    let entries = entries(results);
    let is_short = entries.len() <= 2 * FEW;
    listed(
        results,
        &entries,
        if is_short { MOST_LISTED } else { FEW },
        here,
    )
}

/// So many of the entries, and the command that shows the others.
fn listed(results: &Results, entries: &[Entry<'_>], most: usize, here: Context<'_>) -> Answer {
    let mut answer = Answer::new(here.max_width);
    if entries.is_empty() {
        return answer;
    }
    let names = Names::of_results(results);
    answer.line(bold("not passed"));
    for entry in entries.iter().take(most) {
        entry.tell(&names, here, &mut answer);
    }
    if entries.len() > most {
        answer.line(plain(&format!(
            "  … and {} more: `{} view {}` shows them",
            entries.len() - most,
            here.terca,
            results.run
        )));
    }
    answer
}

/// Trials that did not pass for the same reason.
pub(crate) struct Entry<'a> {
    pub trials: Vec<&'a TrialResult>,
    pub reasons: Vec<String>,
}

pub(crate) fn entries(results: &Results) -> Vec<Entry<'_>> {
    let trials = results.trials.iter();
    let failed = trials.filter(|trial| is_failure(trial.report.status));
    let groups = grouped(failed.map(|trial| ((group(trial), reasons(&trial.report)), trial)));
    groups
        .into_iter()
        .map(|((_, reasons), trials)| Entry { trials, reasons })
        .collect()
}

pub(crate) fn is_failure(status: Status) -> bool {
    matches!(status, Status::Partial | Status::Failed | Status::Error)
}

/// The key of an entry, beside the reason. The score is part of it: half a score for the same reason is another failure.
fn group(trial: &TrialResult) -> (Status, String, Option<[&str; 3]>) {
    let (head, report) = (&trial.head, &trial.report);
    let cell = [head.eval.as_str(), &head.environment, &head.experiment];
    let is_error = report.status == Status::Error;
    (report.status, verdict(report), (!is_error).then_some(cell))
}

impl Entry<'_> {
    /// The name, why, and where to read on.
    fn tell(&self, names: &Names, here: Context<'_>, answer: &mut Answer) {
        let first = &self.trials[0];
        let status = first.report.status;
        let lead = format!("{} {:5}", mark(status), verdict(&first.report));
        let name = format!("  {}", self.name(names));
        answer.line(styled(Role::of_status(status), &lead).plain(&name));
        for reason in self.reasons.iter().take(MOST_REASONS) {
            let reason = truncate(reason, LONGEST_MESSAGE);
            answer.paragraph((Role::Plain, ""), &reason, INDENT);
        }
        let more = self.reasons.len().saturating_sub(MOST_REASONS);
        if more > 0 {
            answer.line(dim(&format!("{}… and {more} more", spaces(INDENT))));
        }
        let nodes = self.nodes();
        if !nodes.is_empty() {
            let ran = format!("ran on {}", prose::list(&nodes, "and"));
            answer.paragraph((Role::Dim, ""), &ran, INDENT);
        }
        let log = here.run_dir.join(&first.head.dir).join("run.log");
        // In one piece, so that it can be copied.
        let fits = INDENT + width(log.as_str()) <= here.max_width;
        let indent = if fits { INDENT } else { SMALL_INDENT };
        answer.line(dim(&format!("{}{log}", spaces(indent))));
    }

    /// The nodes of workers that its trials ran on, the first few of them.
    fn nodes(&self) -> Vec<&str> {
        let trials = self.trials.iter();
        let nodes: BTreeSet<&str> = trials
            .filter_map(|trial| trial.report.ran_on.as_deref())
            .collect();
        let others = (nodes.len() > FEW).then_some("others");
        nodes.into_iter().take(FEW).chain(others).collect()
    }

    /// `fib gemini.base #02`, `fib gemini.base ×3`, or `24 trials of 6 evals` for an error that is everywhere.
    pub(crate) fn name(&self, names: &Names) -> String {
        let head = &self.trials[0].head;
        let number = self.trials.len();
        if number == 1 {
            return names.trial(head);
        }
        let cell = names.cell(head);
        let heads = || self.trials.iter().map(|trial| &trial.head);
        if heads().all(|head| names.cell(head) == cell) {
            return format!("{cell} ×{number}");
        }
        let evals: BTreeSet<&str> = heads().map(|head| head.eval.as_str()).collect();
        format!(
            "{} of {}",
            prose::count(number, "trial"),
            prose::count(evals.len(), "eval")
        )
    }
}

#[cfg(test)]
mod tests {
    use terca_core::run::outcome::TrialReport;

    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::Palette;

    fn shown(script: &Script) -> String {
        failures(&script.results(), fixture::here()).render(Palette::new(false))
    }

    #[test]
    fn repetitions_that_lost_alike_are_one_entry() {
        insta::assert_snapshot!("failures", shown(&fixture::mixed_run()));
    }

    #[test]
    fn a_run_that_passed_has_nothing_to_list() {
        let mut script = Script::new(fixture::heads(2, 1, 1), 1);
        script
            .start(1)
            .finish(1, &fixture::passed(3.0))
            .start(2)
            .finish(2, &fixture::interrupted(3.0));
        assert_eq!(shown(&script), "");
    }

    #[test]
    fn trials_that_ran_elsewhere_say_where() {
        let mut script = Script::new(fixture::heads(1, 1, 9), 1);
        for id in 1..=9 {
            let report = TrialReport {
                ran_on: Some(format!("n{}", if id < 3 { 1 } else { id })),
                ..fixture::failed(1.0, "check-file", if id < 3 { "missing" } else { "empty" })
            };
            script.finish(id, &report);
        }
        insta::assert_snapshot!("failures_on_workers", shown(&script));
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
            script.finish(
                id,
                &fixture::failed(1.0, "check-file", &format!("missing {}", (id - 1) / 5)),
            );
        }
        let text = shown(&script);
        assert_eq!(text.lines().count(), 1 + 20 * 3 + 1);
        assert!(
            text.ends_with("  … and 180 more: `terca view 2026-11-14-001` shows them\n"),
            "{text}"
        );
    }

    #[test]
    fn on_a_screen_words_stay_whole_and_paths_in_one_piece() {
        let mut script = Script::new(fixture::heads(1, 1, 1), 1);
        script.finish(
            1,
            &fixture::failed(1.0, "check-file", "fib.js does not exist in the workspace"),
        );
        let here = Context {
            max_width: 58,
            ..fixture::here()
        };
        let text = failures(&script.results(), here).render(Palette::new(false));
        let lines: Vec<&str> = text.lines().skip(2).collect();
        let expected = [
            "         check-file: fib.js does not exist in the",
            "           workspace",
            "  .terca/runs/2026-11-14-001/fib/gemini.base.01/run.log",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn long_and_hostile_messages_keep_to_their_line() {
        let mut script = Script::new(fixture::heads(1, 1, 1), 1);
        script.finish(
            1,
            &fixture::failed(1.0, "t", &"line\n\u{1b}[2J".repeat(100)),
        );
        let text = shown(&script);
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.lines().nth(2).unwrap().ends_with('…'), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
}
