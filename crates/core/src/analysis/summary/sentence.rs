//! A verdict as a few sentences that a person understands without statistics, and can repeat in a pull request.
//!
//! ```text
//! BETTER on these 4 evals: 94 % of trials passed with `with-rules`, 25 % with `control` (+69 points, 95 % interval +37 … +87;
//! luck alone would do this once in 3,800 runs). Four evals are too few to say the same of other tasks; five is the minimum.
//! `with-rules` takes 1.92 × the tokens (1.61–2.23 ×).
//! ```

use super::comparison::Proposal;
use super::comparison::{Beyond, Change, Comparison, EvalEffect, Verdict};
use super::effect::Effect;
use super::pairs::{Arms, By};
use super::wording::{
    self, difference, ends, luck, number_word, percent, ratio_interval, score, signed, size, times,
};
use crate::config::verdict::{Measure, margin_in_points};
use crate::stats::{ALPHA, CannotTell, Interval};
use crate::text::prose;

/// So many evals that changed are named.
const MOST_NAMED: usize = 5;

/// `places` are all there are.
pub(super) fn of(comparison: &Comparison, places: &[&str], arms: &Arms<'_>) -> String {
    let opening = opening(comparison, places, arms.by);
    let Some(found) = found(comparison, arms) else {
        let reason = comparison.cannot_tell.unwrap_or(CannotTell::NoEvals);
        return format!("{opening}: {reason}.");
    };
    let parts = [
        Some(format!("{opening}: {found}.")),
        changed(&comparison.per_eval),
        ruled_out(comparison),
        obstacle(comparison),
        more_repetitions(comparison),
        stopped_early(comparison),
        beyond(comparison),
        price(comparison),
    ];
    prose::joined(parts.into_iter().flatten(), " ")
}

/// `BETTER on these 4 evals (gemini)`, with the trials that count where not all ended.
fn opening(comparison: &Comparison, places: &[&str], by: By) -> String {
    let verdict = comparison.verdict.as_str();
    let evals = match comparison.evals {
        0 => String::new(),
        1 => " on this eval".to_owned(),
        number => format!(" on these {number} evals"),
    };
    let (ended, planned) = comparison.ended();
    let trials = if ended < planned {
        format!(", from {ended} of {planned} trials")
    } else {
        String::new()
    };
    format!("{verdict}{evals}{}{trials}", place(comparison, places, by))
}

/// Nothing where there is only one place to be, and nobody gave it a name.
fn place(comparison: &Comparison, places: &[&str], by: By) -> String {
    let noun = by.place();
    match (&comparison.place, places) {
        (None, [_, _]) => format!(" (both {noun}s together)"),
        (None, places) => format!(" (all {} {noun}s together)", places.len()),
        (Some(_), ["default"]) => String::new(),
        (Some(place), _) => format!(" ({place})"),
    }
}

/// Both arms, the difference, and how sure it is.
fn found(comparison: &Comparison, arms: &Arms<'_>) -> Option<String> {
    let effect = comparison.decisive();
    let value = effect.value?;
    let both = both(comparison, arms.by)?;
    let difference = difference(comparison.measure, value);
    let interval = |level: &str, interval: Option<Interval>| {
        let ends = interval.map(|interval| ends(comparison.measure, interval));
        ends.map_or_else(String::new, |ends| format!(", {level} interval {ends}"))
    };
    let usual = interval("95 %", effect.interval);
    Some(match comparison.verdict {
        Verdict::Better | Verdict::Worse => {
            let allowing = allowing(comparison);
            let luck = effect.p_adjusted.map(luck).unwrap_or_default();
            format!("{both} ({difference}{usual}; {allowing}luck alone would do this {luck})")
        }
        Verdict::Equivalent => {
            let narrow = interval("90 %", effect.interval90);
            let margin = margin(comparison.measure, arms.margin);
            format!("{both} ({difference}{narrow}: within {margin})")
        }
        Verdict::Inconclusive => format!("{both}: {difference}{}", doubt(comparison, effect)),
    })
}

/// `94 % of trials passed with `with-rules`, 25 % with `control``.
fn both(comparison: &Comparison, by: By) -> Option<String> {
    let Comparison {
        arm,
        baseline,
        figures,
        measure,
        ..
    } = comparison;
    let with = match by {
        By::Experiment | By::Environment => "with",
        By::Run => "in",
    };
    Some(match measure {
        Measure::PassRate => format!(
            "{} of trials passed {with} `{arm}`, {} {with} `{baseline}`",
            percent(figures.arm.pass_rate?),
            percent(figures.baseline.pass_rate?),
        ),
        Measure::Score => format!(
            "the mean score is {} {with} `{arm}`, {} {with} `{baseline}`",
            score(figures.arm.mean_score?),
            score(figures.baseline.mean_score?),
        ),
    })
}

fn margin(measure: Measure, margin: f64) -> String {
    match measure {
        Measure::PassRate => format!("±{}", margin_in_points(margin)),
        Measure::Score => format!("±{margin:.2}"),
    }
}

fn allowing(comparison: &Comparison) -> String {
    match comparison.comparisons {
        1 => String::new(),
        several => format!("allowing for {several} comparisons, "),
    }
}

/// From here on a share of runs would say more than is known: a p-value that allows for several looks is an upper
/// bound.
const EASILY: f64 = 0.95;

/// The reason why a difference is not enough.
fn doubt(comparison: &Comparison, effect: &Effect) -> String {
    let Some(p) = effect.p_adjusted else {
        return String::new();
    };
    let allowing = allowing(comparison);
    let is_nothing = effect.value.is_some_and(|value| value.abs() < 1e-12);
    // Where no result could be enough, that is said instead.
    let is_hopeless = comparison.cannot_tell == Some(CannotTell::TooFewTrials);
    match effect.interval {
        _ if is_nothing || is_hopeless => String::new(),
        Some(interval) if p < ALPHA && interval.contains(0.0) => format!(
            ", but the 95 % interval, {}, includes 0",
            ends(comparison.measure, interval)
        ),
        _ if p >= EASILY => format!(", but {allowing}luck alone easily gives as much"),
        _ => format!(", but {allowing}luck alone gives as much {}", luck(p)),
    }
}

/// `Ruled out: a gain above 36 points, a loss above 21.`
fn ruled_out(comparison: &Comparison) -> Option<String> {
    if comparison.verdict != Verdict::Inconclusive {
        return None;
    }
    let interval = comparison.decisive().interval?;
    let mut said: Vec<String> = Vec::new();
    for (noun, size) in [("gain", interval.high), ("loss", -interval.low)] {
        // An end of the scale rules out nothing, and a claim that needs no size is a verdict.
        if !(0.005..0.995).contains(&size) {
            continue;
        }
        let size = match comparison.measure {
            Measure::PassRate if said.is_empty() => wording::size(size),
            Measure::PassRate => signed(size).trim_start_matches('+').to_owned(),
            Measure::Score => format!("{size:.2}"),
        };
        said.push(format!("a {noun} above {size}"));
    }
    (!said.is_empty()).then(|| format!("Ruled out: {}.", said.join(", ")))
}

/// The obstacle besides noise.
fn obstacle(comparison: &Comparison) -> Option<String> {
    Some(format!(
        "{}.",
        prose::capital(&comparison.cannot_tell?.to_string())
    ))
}

/// `A run of 6 repetitions of these 8 evals would show a true difference of 30 points, one of 12 would show 20
/// (the last
/// about $31.20).`
fn more_repetitions(comparison: &Comparison) -> Option<String> {
    let proposals = &comparison.outlook.as_ref()?.repetitions;
    let last = proposals.last()?;
    let evals = match comparison.evals {
        1 => "this eval".to_owned(),
        number => format!("these {number} evals"),
    };
    let mut told = Vec::new();
    for (index, proposal) in proposals.iter().enumerate() {
        let number = proposal.repetitions;
        let difference = match comparison.measure {
            Measure::PassRate => size(proposal.difference),
            Measure::Score => format!("{:.1}", proposal.difference),
        };
        told.push(match index {
            0 => format!(
                "A run of {} of {evals} would show a true difference of {difference}",
                prose::count(number, "repetition"),
            ),
            _ => {
                let difference = difference.trim_end_matches(" points");
                format!("one of {number} would show {difference}")
            }
        });
    }
    let the_last = if proposals.len() > 1 { "the last " } else { "" };
    let expense = expense(last, the_last);
    Some(format!("{}{expense}.", told.join(", ")))
}

/// ` (about $31.20)`: in money where it is known, else in time.
fn expense(proposal: &Proposal, which: &str) -> String {
    let cost = proposal
        .cost_usd
        .filter(|cost| *cost > 0.0)
        .map(prose::dollars);
    let time = proposal.seconds.filter(|s| *s > 0.0).map(prose::duration);
    cost.or(time)
        .map_or_else(String::new, |expense| format!(" ({which}about {expense})"))
}

/// `` `e03` broke: 10/10 → 0/10. ``
fn changed(evals: &[EvalEffect]) -> Option<String> {
    // With one eval, the verdict says it.
    if evals.len() < 2 {
        return None;
    }
    let mut told = Vec::new();
    for change in [Change::Broke, Change::Mended] {
        let of_kind: Vec<&EvalEffect> = evals
            .iter()
            .filter(|eval| eval.change == Some(change))
            .collect();
        for eval in of_kind.iter().take(MOST_NAMED) {
            let word = eval.word().unwrap_or_default();
            told.push(format!(
                "`{}` {word}: {}/{} → {}/{}",
                eval.eval, eval.baseline_passed, eval.baseline_judged, eval.passed, eval.judged
            ));
        }
        let more = of_kind.len().saturating_sub(MOST_NAMED);
        if more > 0 {
            let word = match change {
                Change::Broke => "worse",
                Change::Mended => "better",
            };
            told.push(format!("{more} more got {word}"));
        }
    }
    (!told.is_empty()).then(|| format!("{}.", told.join("; ")))
}

fn stopped_early(comparison: &Comparison) -> Option<String> {
    let evidence = comparison.sequential.as_ref()?;
    (comparison.verdict.is_difference() && evidence.stopped_early()).then(|| {
        "The run stopped as soon as it was decided, so the true difference is probably nearer to 0."
            .to_owned()
    })
}

/// The second answer: other tasks like these.
fn beyond(comparison: &Comparison) -> Option<String> {
    let evals = comparison.evals;
    let effect = comparison.decisive();
    let interval = effect.beyond.map_or_else(String::new, |interval| {
        format!(" ({})", ends(comparison.measure, interval))
    });
    let gain = match comparison.verdict {
        Verdict::Worse => "lose",
        _ => "gain",
    };
    let needed = comparison
        .outlook
        .as_ref()
        .and_then(|outlook| outlook.evals.as_ref());
    let would_tell = needed.map_or_else(String::new, |needed| {
        format!(
            " About {} like these would be enough to tell.",
            prose::count(needed.evals, "eval")
        )
    });
    Some(match comparison.beyond? {
        Beyond::TooFewEvals => {
            let is = if evals == 1 { "eval is" } else { "evals are" };
            format!(
                "{} {is} too few to say the same of other tasks; five is the minimum.",
                number_word(evals)
            )
        }
        Beyond::Holds => format!("Other tasks like these should {gain} too{interval}."),
        Beyond::Unclear => {
            format!("These evals do not show that other tasks {gain} too{interval}.{would_tell}")
        }
    })
}

/// In money where it is known, else in tokens. A ratio whose interval holds 1 is no finding.
fn price(comparison: &Comparison) -> Option<String> {
    let known = [
        (
            &comparison.cost_usd,
            ["cost", "bill", "costs", "cost", "as much", "cost the same"],
        ),
        (
            &comparison.tokens,
            [
                "tokens", "total", "takes", "took", "the tokens", "took as many tokens",
            ],
        ),
    ];
    let mut known = known
        .into_iter()
        .filter(|(effect, _)| effect.value.is_some());
    let (effect, [noun, total, takes, took, as_much, same]) = known.next()?;
    let ratio = effect.value?;
    let arm = &comparison.arm;
    // Few expensive trials make the bill another than the price of a trial.
    let bill = effect.bill.map(times).filter(|bill| *bill != times(ratio));
    let bill = bill.map_or_else(String::new, |bill| format!("; the {total} is {bill} ×"));
    Some(match effect.interval {
        Some(interval) if interval.contains(1.0) => format!(
            "No difference in {noun} was shown ({}{bill}).",
            ratio_interval(interval)
        ),
        Some(interval) => format!(
            "`{arm}` {takes} {} × {as_much} ({}{bill}).",
            times(ratio),
            ratio_interval(interval)
        ),
        None if comparison.repetitions.max > 1 && (0.995..1.005).contains(&ratio) => {
            format!("Every trial {same} with both.")
        }
        None => format!(
            "`{arm}` {took} {} × {as_much} in these trials.",
            times(ratio)
        ),
    })
}
