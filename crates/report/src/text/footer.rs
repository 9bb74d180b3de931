//! The last lines of a run: how many ended how, what to know about them, and where the results are.

use terca_core::analysis::results::{AdaptiveResult, Results};
use terca_core::analysis::summary::remarks::sentences;
use terca_core::run::event::StoppedVariant;
use terca_core::run::event::{RunStatus, StopReason};
use terca_core::run::outcome::Status;
use terca_core::text::prose;

use crate::context::Context;
use crate::metrics;
use crate::outcome::ending;
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;

pub fn footer(results: &Results, here: Context<'_>, palette: Palette) -> String {
    let results_file =
        StyledLine::plain(&format!("results: {}", here.run_dir.join("results.json")));
    let mut lines = vec![counts(results)];
    lines.extend(spent(results));
    lines.extend(replayed(results));
    lines.extend(errors(results));
    lines.extend(stopped(results).iter().map(|said| {
        let next = format!("{said}; `{} resume --errors` runs them", here.terca);
        StyledLine::of(Role::Trouble, "warning: ").with(Role::Plain, &next)
    }));
    lines.extend(explained(results));
    lines.extend(other_models(results));
    lines.extend(results.adaptive.as_ref().map(repeated));
    lines.extend(
        sentences(&results.summary.remarks)
            .iter()
            .map(|said| StyledLine::of(Role::Bold, "remark: ").with(Role::Plain, said)),
    );
    lines.extend(unfinished(results, here));
    lines.push(results_file);
    lines
        .iter()
        .map(|line| line.render(palette) + "\n")
        .collect()
}

/// `a replay of 2026-11-16-01: tokens are as recorded, and nothing was spent`.
fn replayed(results: &Results) -> Option<StyledLine> {
    let run = results.replay_of.as_ref()?;
    let live = results.trials.iter().any(|trial| {
        let wire = trial.report.wire.as_ref();
        wire.is_some_and(|wire| wire.replayed < wire.answered)
    });
    let rest = if live {
        "tokens of its answers are as recorded, and only requests to the service cost something"
    } else {
        "tokens are as recorded, and nothing was spent on models"
    };
    Some(StyledLine::plain(&format!("a replay of {run}: {rest}")))
}

/// `40 trials: 31 passed, 4 partial, 5 failed, in 3m 05s`.
pub(crate) fn counts(results: &Results) -> StyledLine {
    let summary = &results.summary;
    let mut line =
        StyledLine::of(Role::Bold, &prose::count(summary.trials, "trial")).with(Role::Plain, ": ");
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
        line.push(Role::Plain, if index > 0 { ", " } else { "" });
        let role = if number > 0 {
            Role::of_status(status)
        } else {
            Role::Plain
        };
        line.push(
            role,
            &if status == Status::Pending {
                format!("{number} not run")
            } else {
                ending(status, number)
            },
        );
    }
    if let Some(seconds) = results.seconds() {
        line.push(Role::Plain, &format!(", in {}", prose::duration(seconds)));
    }
    line
}

/// `spent: 312.0k tokens, $0.820`.
fn spent(results: &Results) -> Option<StyledLine> {
    let spent = metrics::spent_on(results)?;
    Some(StyledLine::plain(&format!("spent: {spent}")))
}

fn errors(results: &Results) -> Option<StyledLine> {
    let number = results.summary.errors;
    if number == 0 {
        return None;
    }
    let trials = prose::count(number, "trial");
    let failures = if number == 1 { "a failure" } else { "failures" };
    let said = format!("{trials} ended in an error: not judged, and not counted as {failures}");
    Some(StyledLine::of(Role::Trouble, "warning: ").with(Role::Plain, &said))
}

/// The command that explains the kinds of those errors.
fn explained(results: &Results) -> Option<StyledLine> {
    const MOST: usize = 3;
    let mut kinds: Vec<&str> = Vec::new();
    for error in results
        .trials
        .iter()
        .filter_map(|trial| trial.report.error.as_ref())
    {
        if !kinds.contains(&error.kind.as_str()) {
            kinds.push(error.kind.as_str());
        }
    }
    kinds.truncate(MOST);
    let said = format!("more: terca explain {}", kinds.join(" "));
    (!kinds.is_empty()).then(|| StyledLine::of(Role::Dim, &said))
}

/// Says which variants were stopped, since their further trials would have ended in the same error. A few have a
/// sentence
/// each, many share one.
pub(crate) fn stopped(results: &Results) -> Vec<String> {
    const MOST: usize = 3;
    let variants = &results.stopped_variants;
    if variants.len() <= MOST {
        let sentence = |variant: &StoppedVariant| {
            let name = format!("{}.{}", variant.environment, variant.experiment);
            not_started(&name, variant.trials, variant.error.kind.as_str())
        };
        return variants.iter().map(sentence).collect();
    }
    let mut kinds: Vec<&str> = Vec::new();
    for variant in variants {
        if !kinds.contains(&variant.error.kind.as_str()) {
            kinds.push(variant.error.kind.as_str());
        }
    }
    let trials = variants.iter().map(|variant| variant.trials).sum();
    let name = prose::count(variants.len(), "variant");
    vec![not_started(&name, trials, &kinds.join(", "))]
}

fn not_started(name: &str, trials: usize, kinds: &str) -> String {
    let trials = prose::count(trials, "trial");
    format!("{name}: {trials} not started after an error that each would have had ({kinds})")
}

/// An arm that ran on another model than its name says is not the arm that was meant. Each pair of models has a line.
fn other_models(results: &Results) -> Vec<StyledLine> {
    const MOST: usize = 5;
    let mut pairs: Vec<((&str, &str), usize)> = Vec::new();
    let trials = results.trials.iter();
    for pair in trials.filter_map(|trial| trial.report.delivery.other_model()) {
        match pairs.iter_mut().find(|(known, _)| *known == pair) {
            Some((_, trials)) => *trials += 1,
            None => pairs.push((pair, 1)),
        }
    }
    let warning = |said: &str| StyledLine::of(Role::Fair, "warning: ").with(Role::Plain, said);
    let mut lines: Vec<StyledLine> = Vec::new();
    for ((requested, observed), trials) in pairs.iter().take(MOST) {
        let trials = prose::count(*trials, "trial");
        lines.push(warning(&format!(
            "{trials} used another model than requested: `{observed}` instead of `{requested}`"
        )));
    }
    let more: usize = pairs.iter().skip(MOST).map(|(_, trials)| trials).sum();
    if more > 0 {
        let trials = prose::count(more, "more trial");
        lines.push(warning(&format!(
            "{trials} used another model than requested"
        )));
    }
    lines
}

/// The repetitions of an adaptive run, and why there are no more.
fn repeated(run: &AdaptiveResult) -> StyledLine {
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
    StyledLine::of(Role::Bold, "adaptive: ").with(Role::Plain, &said)
}

fn over_budget(results: &Results, open: usize, here: Context<'_>) -> StyledLine {
    let total = &results.summary.spent;
    let sum = total.spent.cost_usd.unwrap_or(0.0);
    let unknown = total.trials - total.trials_with_cost;
    let mut said = format!("{} spent (--budget-usd)", prose::dollars(sum));
    if unknown > 0 {
        said += &format!(
            ", not counting {} whose cost is not known",
            prose::count(unknown, "trial")
        );
    }
    if open > 0 {
        said += &format!(", {} not run", prose::count(open, "trial"));
    }
    said += &format!("; `{} resume --budget-usd MORE` continues", here.terca);
    StyledLine::of(Role::Fair, "stopped by the budget: ").with(Role::Plain, &said)
}

/// A run that was cut short, by its user, by `--fail-fast` or by its budget.
fn unfinished(results: &Results, here: Context<'_>) -> Option<StyledLine> {
    let summary = &results.summary;
    let open = summary.interrupted + summary.pending;
    match results.status {
        RunStatus::Interrupted => {
            let trials = prose::count(open, "trial");
            let rest = format!("{trials} left; `{} resume` runs them", here.terca);
            Some(StyledLine::of(Role::Fair, "interrupted: ").with(Role::Plain, &rest))
        }
        _ if results.stopped == Some(StopReason::Budget) => Some(over_budget(results, open, here)),
        RunStatus::Complete if open > 0 => {
            let rest = format!("stopped early, {} left", prose::count(open, "trial"));
            Some(StyledLine::of(Role::Fair, "warning: ").with(Role::Plain, &rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use terca_core::trial_error::{ErrorKind, TrialError};

    use super::*;
    use crate::fixture::{self, Script};

    fn shown(script: &Script) -> String {
        footer(&script.results(), fixture::here(), Palette::new(false))
    }

    #[test]
    fn a_run_with_everything() {
        insta::assert_snapshot!("footer", shown(&fixture::mixed_run()));
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
        insta::assert_snapshot!("footer_interrupted", shown(&script));
    }

    #[test]
    fn many_variants_that_were_stopped_share_a_line() {
        let stopped_variant = |number: usize| StoppedVariant {
            environment: "mock".into(),
            experiment: format!("experiment-{number}"),
            error: TrialError::new(ErrorKind::Auth, "the key was refused"),
            trials: number,
        };
        let said = |number: usize| -> Vec<String> {
            let mut results = fixture::mixed_run().results();
            results.stopped_variants = (1..=number).map(stopped_variant).collect();
            stopped(&results)
        };
        assert_eq!(
            said(2),
            [
                "mock.experiment-1: 1 trial not started after an error that each would have had (auth)",
                "mock.experiment-2: 2 trials not started after an error that each would have had (auth)",
            ]
        );
        assert_eq!(
            said(15),
            ["15 variants: 120 trials not started after an error that each would have had (auth)"]
        );
    }

    #[test]
    fn each_pair_of_models_is_told_for_itself() {
        let heads = fixture::heads(9, 1, 1);
        let mut script = Script::new(heads.clone(), 1);
        for head in &heads {
            let mut report = fixture::passed(1.0);
            report.delivery.model_requested = Some("asked".into());
            let observed = if head.id < 3 {
                "first".to_owned()
            } else {
                format!("model-{}", head.id)
            };
            report.delivery.model_observed = Some(observed);
            script.start(head.id).finish(head.id, &report);
        }
        script.end(RunStatus::Complete);
        let text = shown(&script);
        let told: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("warning: "))
            .collect();
        assert_eq!(
            told,
            [
                "2 trials used another model than requested: `first` instead of `asked`",
                "1 trial used another model than requested: `model-3` instead of `asked`",
                "1 trial used another model than requested: `model-4` instead of `asked`",
                "1 trial used another model than requested: `model-5` instead of `asked`",
                "1 trial used another model than requested: `model-6` instead of `asked`",
                "3 more trials used another model than requested",
            ]
        );
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
        insta::assert_snapshot!("footer_budget", shown(&script));
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
