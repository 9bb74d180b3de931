//! A verdict as a sentence that a person can repeat in a pull request.

use super::arms::Arms;
use super::by::By;
use super::comparison::{Comparison, Repetitions};
use super::evidence::Evidence;
use super::outlook::{Outlook, Proposal};
use super::verdict::Verdict;
use super::wording::{self, capital, p_value, percent, points, size, times};
use crate::stats::CannotTell;
use crate::text::prose;

/// `places` are all there are.
pub(super) fn of(comparison: &Comparison, places: &[&str], arms: &Arms<'_>) -> String {
    let place = place(comparison, places, arms.by);
    let claim = claim(comparison, &place, arms.margin);
    let Some(figures) = figures(comparison) else {
        return format!(
            "{claim}: {}.",
            comparison.cannot_tell.unwrap_or(CannotTell::NoEvals)
        );
    };
    let first = format!("{claim}: {figures}{}.", price(comparison));
    let needed = comparison
        .outlook
        .as_ref()
        .and_then(|outlook| needed(outlook, comparison));
    let rest = [obstacle(comparison), needed];
    [Some(first)]
        .into_iter()
        .chain(rest)
        .flatten()
        .collect::<Vec<String>>()
        .join(" ")
}

fn claim(comparison: &Comparison, place: &str, margin: f64) -> String {
    let Comparison { arm, baseline, .. } = comparison;
    match comparison.verdict {
        Verdict::Better => format!("`{arm}` is better than `{baseline}`{place}"),
        Verdict::Worse => format!("`{arm}` is worse than `{baseline}`{place}"),
        Verdict::Equivalent => {
            let margin = size(margin);
            format!("`{arm}` is equivalent to `{baseline}`{place}, within {margin}")
        }
        Verdict::Inconclusive => {
            format!("`{arm}` cannot be told from `{baseline}`{place}")
        }
    }
}

/// Nothing where there is only one place to be, and nobody gave it a name.
fn place(comparison: &Comparison, places: &[&str], by: By) -> String {
    let noun = by.place();
    match (&comparison.place, places) {
        (None, [_, _]) => format!(" over both {noun}s"),
        (None, places) => format!(" over all {} {noun}s", places.len()),
        (Some(_), ["default"]) => String::new(),
        (Some(place), _) => format!(" {}", by.in_place(place)),
    }
}

/// `82 % against 61 % of trials passed (+21 points, 95 % interval +9 … +33, p = 0.004 over 12 evals × 5 repetitions)`.
fn figures(comparison: &Comparison) -> Option<String> {
    let rate = comparison.figures.arm.pass_rate?;
    let baseline = comparison.figures.baseline.pass_rate?;
    let effect = &comparison.pass_rate;
    let mut details = vec![points(effect.value?)];
    if let Some(interval) = effect.interval {
        details.push(format!("95 % interval {}", wording::interval(interval)));
    }
    let size = trials(comparison.evals, comparison.repetitions);
    let allowing = match comparison.comparisons {
        1 => String::new(),
        several => format!(" allowing for {several} comparisons"),
    };
    details.push(match (&comparison.sequential, effect.p_adjusted) {
        (Some(evidence), Some(p)) => {
            let comma = if allowing.is_empty() { "" } else { "," };
            format!(
                "anytime-valid {}{allowing}{comma} from {}, over {size}",
                p_value(p),
                changed(evidence)
            )
        }
        (None, Some(p)) if !allowing.is_empty() => format!("{}{allowing}, over {size}", p_value(p)),
        (None, Some(p)) => format!("{} over {size}", p_value(p)),
        (_, None) => size,
    });
    Some(format!(
        "{} against {} of trials passed ({})",
        percent(rate),
        percent(baseline),
        details.join(", ")
    ))
}

/// `9 pairs for it and 1 against`.
fn changed(evidence: &Evidence) -> String {
    match (evidence.better, evidence.worse) {
        (0, 0) => "no pair that differs".to_owned(),
        (better, worse) => format!(
            "{} for it and {worse} against",
            prose::count(better, "pair")
        ),
    }
}

fn trials(evals: usize, repetitions: Repetitions) -> String {
    let Repetitions { min, max } = repetitions;
    let repetitions = if min == max {
        prose::count(max, "repetition")
    } else {
        format!("{min} to {max} repetitions")
    };
    format!("{} × {repetitions}", prose::count(evals, "eval"))
}

/// In money where it is known, else in tokens.
fn price(comparison: &Comparison) -> String {
    let known = [
        (comparison.cost_usd.value, "cost"),
        (comparison.tokens.value, "tokens"),
    ];
    let Some((ratio, noun)) = known
        .into_iter()
        .find_map(|(value, noun)| Some((value?, noun)))
    else {
        return String::new();
    };
    if (0.995..1.005).contains(&ratio) {
        let same = if noun == "cost" {
            "at the same cost"
        } else {
            "with as many tokens"
        };
        return format!(", {same}");
    }
    let preposition = if noun == "cost" { "at" } else { "with" };
    format!(", {preposition} {} × the {noun}", times(ratio))
}

/// The obstacle besides noise.
fn obstacle(comparison: &Comparison) -> Option<String> {
    let words = match comparison.cannot_tell? {
        CannotTell::TooFewEvals => {
            let fewest = super::outlook::fewest_evals(comparison.comparisons);
            format!("fewer than {fewest} evals cannot show a difference, whatever it is")
        }
        other => other.to_string(),
    };
    Some(format!("{}.", capital(&words)))
}

/// The way to an answer, the cheaper one first; reckoned for repetitions that are not added one by one.
fn needed(outlook: &Outlook, comparison: &Comparison) -> Option<String> {
    let cheaper = outlook.cheaper()?;
    let with_evals = outlook.with_evals.as_ref().map(|proposal| {
        let repetitions = prose::count(proposal.repetitions, "repetition");
        (
            proposal,
            format!("{} × {repetitions}", prose::count(proposal.evals, "eval")),
        )
    });
    let with_repetitions = outlook.with_repetitions.as_ref().map(|proposal| {
        (
            proposal,
            format!(
                "{} of these evals",
                prose::count(proposal.repetitions, "repetition")
            ),
        )
    });
    let mut ways: Vec<(&Proposal, String)> = [with_evals, with_repetitions]
        .into_iter()
        .flatten()
        .collect();
    ways.sort_by_key(|(proposal, _)| !std::ptr::eq(*proposal, cheaper));
    let ways: Vec<String> = ways
        .iter()
        .map(|(proposal, words)| format!("{words}{}", expense(proposal)))
        .collect();
    Some(format!(
        "To see a difference of {}{} it would take {}.",
        size(outlook.difference),
        if comparison.sequential.is_some() {
            " with fixed repetitions"
        } else {
            ""
        },
        prose::list(&ways, "or")
    ))
}

/// ` (about $31.20 and 2h 07m)`.
fn expense(proposal: &Proposal) -> String {
    let parts: Vec<String> = [
        proposal.cost_usd.map(prose::dollars),
        proposal.seconds.filter(|s| *s > 0.0).map(prose::duration),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" (about {})", prose::list(&parts, "and"))
    }
}
