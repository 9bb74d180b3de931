//! The last lines of a run: how many ended how, what to know about them, and where the results are.

use terca_core::analysis::results::{AdaptiveResult, Results, TrialResult};
use terca_core::analysis::summary::remarks::sentences;
use terca_core::run::event::StoppedVariant;
use terca_core::run::event::{RunStatus, StopReason};
use terca_core::run::outcome::Status;
use terca_core::text::prose;

use crate::context::Context;
use crate::groups::grouped;
use crate::metrics;
use crate::outcome::{ending, endings};
use crate::term::{Answer, Role, StyledLine, UNLIMITED, bold, dim, plain, styled};

const WARNING: &str = "warning: ";

pub fn footer(results: &Results, here: Context<'_>) -> Answer {
    let mut lines = vec![counts(results)];
    lines.extend(metrics::spent_on(results).map(|spent| plain(&format!("spent: {spent}"))));
    lines.extend(replayed(results));
    lines.extend(errors(results));
    lines.extend(retried(results));
    lines.extend(stopped(results).iter().map(|said| {
        let next = format!("{said}; `{} resume --errors` runs them", here.terca);
        styled(Role::Trouble, WARNING).plain(&next)
    }));
    lines.extend(explained(results));
    lines.extend(other_models(results));
    lines.extend(undelivered(results));
    lines.extend(results.adaptive.as_ref().map(repeated));
    let remarks = sentences(&results.summary.remarks);
    lines.extend(remarks.iter().map(|said| bold("remark: ").plain(said)));
    lines.extend(unfinished(results, here));
    let file = here.run_dir.join("results.json");
    lines.push(plain(&format!("results: {file}")));
    lines.extend(workspace(results, here));
    let mut answer = Answer::new(UNLIMITED);
    lines.into_iter().for_each(|line| answer.line(line));
    answer
}

/// The command that makes the workspace of a trial again: of one that did not pass, if there is one.
fn workspace(results: &Results, here: Context<'_>) -> Option<StyledLine> {
    let mut trials: Vec<&TrialResult> = results.trials.iter().collect();
    let is_kept = |name: &String| name.starts_with("workspace");
    trials.retain(|trial| trial.report.evidence.keys().any(is_kept));
    trials.sort_by_key(|trial| trial.report.status == Status::Passed);
    let Context { terca, .. } = here;
    let of = |trial: &&TrialResult| format!("{terca} workspace {} {}", results.run, trial.head.id);
    let command = trials.first().map(of)?;
    Some(plain(&format!("files of a trial: {command}")))
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
    Some(plain(&format!("a replay of {run}: {rest}")))
}

/// `40 trials: 31 passed, 4 partial, 5 failed, in 3m 05s`.
pub(crate) fn counts(results: &Results) -> StyledLine {
    let summary = &results.summary;
    let mut line = bold(&prose::count(summary.trials, "trial"));
    let mut before = ": ";
    for (status, number) in endings(summary) {
        // That nothing passed is worth saying, if something could.
        let is_open = summary.unverified == summary.trials;
        if number == 0 && (status != Status::Passed || is_open) {
            continue;
        }
        let role = match number {
            0 => Role::Plain,
            _ => Role::of_status(status),
        };
        let told = match status {
            Status::Pending => format!("{number} not run"),
            _ => ending(status, number),
        };
        line = line.plain(before).with(role, &told);
        before = ", ";
    }
    match results.seconds() {
        Some(seconds) => line.plain(&format!(", in {}", prose::duration(seconds))),
        None => line,
    }
}

fn errors(results: &Results) -> Option<StyledLine> {
    let number = results.summary.errors;
    let trials = prose::count(number, "trial");
    let failures = if number == 1 { "a failure" } else { "failures" };
    let said = format!("{trials} ended in an error: not judged, and not counted as {failures}");
    (number > 0).then(|| styled(Role::Trouble, WARNING).plain(&said))
}

fn retried(results: &Results) -> Option<StyledLine> {
    let variants = results.summary.variants.iter();
    let number: usize = variants.map(|variant| variant.figures.retried).sum();
    let trials = prose::count(number, "trial");
    let were = if number == 1 { "was" } else { "were" };
    let said = format!("{trials} {were} judged at a later attempt, after an error");
    (number > 0).then(|| styled(Role::Trouble, WARNING).plain(&said))
}

/// Returns each kind once, in the order in which they come.
fn unique<'a>(kinds: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let kinds = grouped(kinds.map(|kind| (kind, ())));
    kinds.into_iter().map(|(kind, _)| kind).collect()
}

/// What to do about the kinds of those errors, and the command that explains them.
fn explained(results: &Results) -> Vec<StyledLine> {
    const MOST: usize = 3;
    let trials = results.trials.iter();
    let errors = trials.filter_map(|trial| trial.report.error.as_ref());
    let mut kinds = grouped(errors.map(|error| (error.kind.as_str(), error.kind.help())));
    kinds.truncate(MOST);
    if kinds.is_empty() {
        return Vec::new();
    }
    let help = (kinds.iter()).flat_map(|(kind, help)| {
        (help.first()).map(|help| bold("help: ").plain(&format!("{kind}: {help}")))
    });
    let words: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
    let more = dim(&format!("more: terca explain {}", words.join(" ")));
    help.chain([more]).collect()
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
    let kinds = unique(variants.iter().map(|variant| variant.error.kind.as_str()));
    let trials = variants.iter().map(|variant| variant.trials).sum();
    let name = prose::count(variants.len(), "variant");
    vec![not_started(&name, trials, &kinds.join(", "))]
}

fn not_started(name: &str, trials: usize, kinds: &str) -> String {
    let each = if trials == 1 { "it" } else { "each" };
    let trials = prose::count(trials, "trial");
    format!("{name}: {trials} skipped: {each} would fail with the same error ({kinds})")
}

/// An arm that ran on another model than its name says is not the arm that was meant. Each pair of models has a line.
fn other_models(results: &Results) -> Vec<StyledLine> {
    const MOST: usize = 5;
    let trials = results.trials.iter();
    let pairs = trials.filter_map(|trial| Some((trial.report.delivery.other_model()?, ())));
    let pairs = grouped(pairs);
    let warning = |number: usize, noun: &str, which: &str| {
        let trials = prose::count(number, noun);
        let said = format!("{trials} used another model than requested{which}");
        styled(Role::Fair, WARNING).plain(&said)
    };
    let named = pairs.iter().take(MOST);
    let mut lines: Vec<StyledLine> = named
        .map(|((requested, observed), trials)| {
            let which = format!(": `{observed}` instead of `{requested}`");
            warning(trials.len(), "trial", &which)
        })
        .collect();
    let more = pairs.iter().skip(MOST).map(|(_, trials)| trials.len());
    let more: usize = more.sum();
    if more > 0 {
        lines.push(warning(more, "more trial", ""));
    }
    lines
}

/// Rules and skills that did not reach a model. Of an arm that is compared, the comparison says so.
fn undelivered(results: &Results) -> Vec<StyledLine> {
    let summary = &results.summary;
    let is_compared = |experiment: &str| {
        let mut comparisons = summary.comparisons.iter();
        comparisons.any(|comparison| comparison.arm == experiment)
    };
    let variants = summary.variants.iter();
    let variants = variants.filter(|variant| !is_compared(&variant.experiment));
    let warnings = variants.flat_map(|variant| {
        let name = format!("{}.{}", variant.environment, variant.experiment);
        variant.delivery.undelivered(&name)
    });
    warnings
        .map(|said| styled(Role::Fair, WARNING).plain(&said))
        .collect()
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
    let open = prose::count(undecided, "comparison");
    let said = match (comparisons, undecided) {
        (0, _) => format!("{number}, since there is nothing to compare"),
        (_, 0) => format!("every comparison is decided after {number} of at most {max}"),
        _ if reached < max => format!("{open} undecided after {number} of at most {max}"),
        _ => format!("{open} undecided after {number}, the most allowed"),
    };
    bold("adaptive: ").plain(&said)
}

fn over_budget(results: &Results, open: usize, here: Context<'_>) -> String {
    let total = &results.summary.spent;
    let sum = total.spent.cost_usd.unwrap_or(0.0);
    let unknown = total.trials - total.trials_with_cost;
    let mut said = format!("{} spent (--budget-usd)", prose::dollars(sum));
    if unknown > 0 {
        let trials = prose::count(unknown, "trial");
        said += &format!(", not counting {trials} whose cost is not known");
    }
    if open > 0 {
        said += &format!(", {} not run", prose::count(open, "trial"));
    }
    format!(
        "{said}; `{} resume --budget-usd MORE` continues",
        here.terca
    )
}

/// A run that was cut short, by its user, by `--fail-fast` or by its budget.
fn unfinished(results: &Results, here: Context<'_>) -> Option<StyledLine> {
    let summary = &results.summary;
    let open = summary.interrupted + summary.pending;
    let trials = prose::count(open, "trial");
    let (label, rest) = match results.status {
        RunStatus::Interrupted => {
            let rest = format!("{trials} left; `{} resume` runs them", here.terca);
            ("interrupted: ", rest)
        }
        _ if results.stopped == Some(StopReason::Budget) => {
            ("stopped by the budget: ", over_budget(results, open, here))
        }
        RunStatus::Complete if open > 0 => (WARNING, format!("stopped early, {trials} left")),
        _ => return None,
    };
    Some(styled(Role::Fair, label).plain(&rest))
}

#[cfg(test)]
mod tests {
    use terca_core::trial_error::{ErrorKind, TrialError};

    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::Palette;

    fn shown(script: &Script) -> String {
        footer(&script.results(), fixture::here()).render(Palette::new(false))
    }

    #[test]
    fn a_run_with_everything() {
        insta::assert_snapshot!("footer", shown(&fixture::mixed_run()));
    }

    #[test]
    fn a_run_that_simply_passed() {
        let mut kept = fixture::passed(3.5);
        let hash = "72ef4b5ae7cbce4112e227d310487812";
        kept.evidence
            .insert("workspace.changes".into(), hash.into());
        let mut script = Script::new(fixture::heads(1, 1, 1), 1);
        script
            .start(1)
            .pass(3.5)
            .finish(1, &kept)
            .end(RunStatus::Complete);
        assert_eq!(
            shown(&script),
            "1 trial: 1 passed, in 3.5s\nspent: 1.8k tokens, $0.003\n\
             results: .terca/runs/2026-11-14-001/results.json\n\
             files of a trial: terca workspace 2026-11-14-001 1\n"
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
                "mock.experiment-1: 1 trial skipped: it would fail with the same error (auth)",
                "mock.experiment-2: 2 trials skipped: each would fail with the same error (auth)",
            ]
        );
        assert_eq!(
            said(15),
            ["15 variants: 120 trials skipped: each would fail with the same error (auth)"]
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
