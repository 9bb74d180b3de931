//! The last lines of a run: how many ended how, what to know about them, and where the results are.

use terca_core::analysis::results::{AdaptiveResult, Results};
use terca_core::run::event::{RunStatus, StopReason};
use terca_core::run::outcome::Status;
use terca_core::run::state::StoppedVariant;
use terca_core::text::prose;

use crate::clock::seconds_between;
use crate::figure;
use crate::spans::Spans;
use crate::style::{Palette, Tone};
use crate::tally::ending;
use crate::whereabouts::Whereabouts;

pub fn closing(results: &Results, here: Whereabouts<'_>, palette: Palette) -> String {
    let results_file = Spans::plain(&format!("results: {}", here.run_dir.join("results.json")));
    let mut lines = vec![counts(results)];
    lines.extend(spent(results));
    lines.extend(errors(results));
    lines.extend(
        results
            .stopped_variants
            .iter()
            .map(|variant| stopped(variant, here)),
    );
    lines.extend(explained(results));
    lines.extend(other_models(results));
    lines.extend(results.adaptive.as_ref().map(repeated));
    lines.extend(unfinished(results, here));
    lines.push(results_file);
    lines
        .iter()
        .map(|line| line.render(palette) + "\n")
        .collect()
}

/// `40 trials: 31 passed, 4 partial, 5 failed, in 3m 05s`.
pub(crate) fn counts(results: &Results) -> Spans {
    let summary = &results.summary;
    let mut line =
        Spans::of(Tone::Bold, &prose::count(summary.trials, "trial")).with(Tone::Plain, ": ");
    let endings = [
        (Status::Passed, summary.passed),
        (Status::Partial, summary.partial),
        (Status::Failed, summary.failed),
        (Status::Error, summary.errors),
        (Status::Interrupted, summary.interrupted),
        (Status::Pending, summary.pending),
    ];
    // That nothing passed is worth saying.
    let told = endings
        .into_iter()
        .filter(|(status, number)| *number > 0 || *status == Status::Passed);
    for (index, (status, number)) in told.enumerate() {
        line.push(Tone::Plain, if index > 0 { ", " } else { "" });
        let tone = if number > 0 {
            Tone::of_status(status)
        } else {
            Tone::Plain
        };
        line.push(
            tone,
            &if status == Status::Pending {
                format!("{number} not run")
            } else {
                ending(status, number)
            },
        );
    }
    if let (Some(from), Some(to)) = (results.started_at, results.finished_at) {
        line.push(
            Tone::Plain,
            &format!(", in {}", prose::duration(seconds_between(from, to))),
        );
    }
    line
}

/// `spent: 312.0k tokens, $0.820`.
fn spent(results: &Results) -> Option<Spans> {
    let spent = figure::spent(&results.summary.spent);
    (!spent.is_empty()).then(|| Spans::plain(&format!("spent: {spent}")))
}

fn errors(results: &Results) -> Option<Spans> {
    let number = results.summary.errors;
    if number == 0 {
        return None;
    }
    let trials = prose::count(number, "trial");
    let failures = if number == 1 { "a failure" } else { "failures" };
    let said = format!("{trials} ended in an error: not judged, and not counted as {failures}");
    Some(Spans::of(Tone::Trouble, "warning: ").with(Tone::Plain, &said))
}

/// Where the kinds of those errors are explained.
fn explained(results: &Results) -> Option<Spans> {
    const MOST: usize = 3;
    let mut kinds: Vec<&str> = Vec::new();
    for error in results
        .trials
        .iter()
        .filter_map(|trial| trial.report.error.as_ref())
    {
        if !kinds.contains(&error.kind.word()) {
            kinds.push(error.kind.word());
        }
    }
    kinds.truncate(MOST);
    let said = format!("more: terca explain {}", kinds.join(" "));
    (!kinds.is_empty()).then(|| Spans::of(Tone::Dim, &said))
}

/// What was not tried, since it would have ended like what was.
fn stopped(variant: &StoppedVariant, here: Whereabouts<'_>) -> Spans {
    let StoppedVariant {
        environment,
        experiment,
        error,
        trials,
    } = variant;
    let said = format!(
        "{environment}.{experiment}: {} not started after an error that each would have met ({}); \
         `{} resume --errors` runs them",
        prose::count(*trials, "trial"),
        error.kind.word(),
        here.terca,
    );
    Spans::of(Tone::Trouble, "warning: ").with(Tone::Plain, &said)
}

/// An arm that ran on another model than its name says is not the arm that was meant.
fn other_models(results: &Results) -> Option<Spans> {
    let others: Vec<(&str, &str)> = results
        .trials
        .iter()
        .filter_map(|trial| trial.report.delivery.other_model())
        .collect();
    let (requested, observed) = others.first()?;
    let trials = prose::count(others.len(), "trial");
    let said = format!(
        "{trials} used another model than was asked for: `{observed}` instead of `{requested}`"
    );
    Some(Spans::of(Tone::Fair, "warning: ").with(Tone::Plain, &said))
}

/// How far an adaptive run went, and why no further.
fn repeated(run: &AdaptiveResult) -> Spans {
    let AdaptiveResult {
        max,
        reached,
        comparisons,
        undecided,
        ..
    } = *run;
    let number = prose::count(reached as usize, "repetition");
    let said = match (comparisons, undecided) {
        (0, _) => format!("{number}, since there is nothing to compare"),
        (_, 0) => format!("every comparison is decided after {number} of at most {max}"),
        (_, open) if reached < max => {
            format!(
                "{} undecided after {number} of at most {max}",
                prose::count(open, "comparison")
            )
        }
        (_, open) => {
            format!(
                "{} undecided after {number}, the most allowed",
                prose::count(open, "comparison")
            )
        }
    };
    Spans::of(Tone::Bold, "adaptive: ").with(Tone::Plain, &said)
}

fn over_budget(results: &Results, open: usize, here: Whereabouts<'_>) -> Spans {
    let total = &results.summary.spent;
    let sum = total.spent.cost_usd.unwrap_or(0.0);
    let unknown = total.trials - total.trials_with_cost;
    let mut said = format!("{} spent (--budget-usd)", prose::dollars(sum));
    if unknown > 0 {
        said += &format!(
            ", not counting {} that reported no cost",
            prose::count(unknown, "trial")
        );
    }
    if open > 0 {
        said += &format!(", {} not run", prose::count(open, "trial"));
    }
    said += &format!("; `{} resume --budget-usd MORE` goes on", here.terca);
    Spans::of(Tone::Fair, "stopped by the budget: ").with(Tone::Plain, &said)
}

/// A run that was cut short, by its user, by `--fail-fast` or by its budget.
fn unfinished(results: &Results, here: Whereabouts<'_>) -> Option<Spans> {
    let summary = &results.summary;
    let open = summary.interrupted + summary.pending;
    match results.status {
        RunStatus::Interrupted => {
            let trials = prose::count(open, "trial");
            let rest = format!("{trials} left; `{} resume` runs them", here.terca);
            Some(Spans::of(Tone::Fair, "interrupted: ").with(Tone::Plain, &rest))
        }
        _ if results.stopped == Some(StopReason::Budget) => Some(over_budget(results, open, here)),
        RunStatus::Complete if open > 0 => {
            let rest = format!("stopped early, {} left", prose::count(open, "trial"));
            Some(Spans::of(Tone::Fair, "warning: ").with(Tone::Plain, &rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};

    fn shown(script: &Script) -> String {
        closing(&script.results(), fixture::here(), Palette::new(false))
    }

    #[test]
    fn a_run_with_everything() {
        insta::assert_snapshot!("closing", shown(&fixture::mixed_run()));
    }

    #[test]
    fn a_run_that_simply_passed() {
        let mut script = Script::new(fixture::heads(1, 1, 1), 1);
        script
            .start(1)
            .pass(3.5)
            .finish(1, &fixture::passed(3.5))
            .end(RunStatus::Complete);
        assert_eq!(
            shown(&script),
            "1 trial: 1 passed, in 3.5s\nspent: 1.8k tokens, $0.003\n\
             results: .terca/runs/2026-11-14-001/results.json\n"
        );
    }

    #[test]
    fn a_run_that_was_interrupted() {
        let mut script = Script::new(fixture::heads(4, 1, 1), 1);
        script
            .start(1)
            .pass(3.5)
            .finish(1, &fixture::failed(3.5, "t", "m"))
            .start(2)
            .pass(1.0);
        script
            .finish(2, &fixture::interrupted(1.0))
            .end(RunStatus::Interrupted);
        insta::assert_snapshot!("closing_interrupted", shown(&script));
    }

    #[test]
    fn how_far_an_adaptive_run_went() {
        for (comparisons, undecided, reached, said) in [
            (
                2,
                0,
                4,
                "every comparison is decided after 4 repetitions of at most 20",
            ),
            (
                2,
                1,
                20,
                "1 comparison undecided after 20 repetitions, the most allowed",
            ),
            (
                3,
                2,
                7,
                "2 comparisons undecided after 7 repetitions of at most 20",
            ),
            (0, 0, 3, "3 repetitions, since there is nothing to compare"),
        ] {
            let run = AdaptiveResult {
                min: 3,
                max: 20,
                reached,
                comparisons,
                undecided,
            };
            assert_eq!(
                repeated(&run).render(Palette::new(false)),
                format!("adaptive: {said}")
            );
        }
    }

    #[test]
    fn a_run_whose_budget_is_spent() {
        let mut script = Script::new(fixture::heads(4, 1, 1), 1);
        script
            .start(1)
            .finish(1, &fixture::passed(3.5))
            .start(2)
            .stop(StopReason::Budget);
        script
            .finish(2, &fixture::failed(3.5, "t", "m"))
            .end(RunStatus::Complete);
        insta::assert_snapshot!("closing_budget", shown(&script));
    }

    #[test]
    fn a_run_that_stopped_early() {
        let mut script = Script::new(fixture::heads(4, 1, 1), 1);
        script
            .start(1)
            .finish(1, &fixture::failed(3.5, "t", "m"))
            .end(RunStatus::Complete);
        assert!(
            shown(&script).contains("\nwarning: stopped early, 3 trials left\n"),
            "{}",
            shown(&script)
        );
    }
}
