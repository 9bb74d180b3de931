//! The figures of a group of trials as text. What nobody reported is `–`, never 0.

use std::collections::{HashMap, HashSet};

use terca_core::analysis::metrics::{Metric, UNKNOWN};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::percent;
use terca_core::analysis::summary::{Figures, Reliability, Summary};
use terca_core::run::state::{Spent, SpentTotal, judges};
use terca_core::text::prose;

use crate::term::{Role, StyledLine, dim, plain, styled};

const MOST_TRIES: usize = 10;

/// Returns the figures of each eval in each variant, by the names of eval, environment and experiment.
pub fn cells(summary: &Summary) -> HashMap<[&str; 3], &Figures> {
    let cells = summary.cells.iter();
    cells
        .map(|cell| {
            (
                [&*cell.eval, &cell.environment, &cell.experiment],
                &cell.figures,
            )
        })
        .collect()
}

/// Returns the names of the evals, in the order of the run.
pub fn evals(summary: &Summary) -> Vec<&str> {
    let mut evals: Vec<&str> = summary.cells.iter().map(|cell| &*cell.eval).collect();
    let mut known = HashSet::new();
    evals.retain(|eval| known.insert(*eval));
    evals
}

/// `3/4`: of those judged.
pub fn passed(figures: &Figures) -> StyledLine {
    match figures.judged {
        0 => unknown(),
        judged => styled(role(figures), &format!("{}/{judged}", figures.passed)),
    }
}

/// The shares that follow the figures of the variants, each with its title: the pass rate with errors as failures where it is
/// another one, and the chances of several trials.
pub fn further_shares<'a>(
    variants: impl Iterator<Item = &'a Figures> + Clone,
) -> Vec<(String, Vec<Option<f64>>)> {
    let mut shares = Vec::new();
    if variants
        .clone()
        .any(|figures| figures.pass_rate_of_all.is_some())
    {
        let rates = variants.clone();
        let rates = rates.map(|figures| figures.pass_rate_of_all.or(figures.pass_rate));
        shares.push(("errors as failures".to_owned(), rates.collect()));
    }
    let of_several = reliability(variants).into_iter();
    let of_several =
        of_several.map(|(title, shares)| (title, shares.into_iter().map(Some).collect()));
    shares.extend(of_several);
    shares
}

/// The chance that one of k trials passes, and that all do, of each variant: for the largest k that all variants have, and at
/// most ten, because nobody tries more often. Empty where one trial is all there is.
fn reliability<'a>(variants: impl Iterator<Item = &'a Figures> + Clone) -> Vec<(String, Vec<f64>)> {
    let of_k = |figures: &'a Figures, k| figures.reliability.iter().find(|one| one.k == k);
    let largest = |figures: &Figures| {
        let small = figures.reliability.iter().map(|one| one.k);
        small.take_while(|k| *k <= MOST_TRIES).max().unwrap_or(0)
    };
    let k = variants.clone().map(largest).min().unwrap_or(0);
    let found: Option<Vec<&Reliability>> = variants.map(|figures| of_k(figures, k)).collect();
    match found {
        Some(found) if k > 1 => vec![
            (
                format!("pass@{k}"),
                found.iter().map(|one| one.pass_at_k).collect(),
            ),
            (
                format!("pass^{k}"),
                found.iter().map(|one| one.pass_hat_k).collect(),
            ),
        ],
        _ => Vec::new(),
    }
}

/// A share in its colour.
pub fn share(value: Option<f64>) -> StyledLine {
    value.map_or_else(unknown, |value| {
        styled(Role::of_score(value), &percent(value))
    })
}

/// `8 retried`: of those judged.
pub fn retried(figures: &Figures) -> Option<String> {
    (figures.retried > 0).then(|| format!("{} retried", figures.retried))
}

/// A figure in its colour: only shares have one.
pub fn figure(metric: &Metric, figures: &Figures) -> StyledLine {
    match (metric.read)(figures) {
        None => unknown(),
        Some(value) if metric.is_share => styled(Role::of_score(value), &(metric.show)(value)),
        Some(value) => plain(&(metric.show)(value)),
    }
}

/// `+1 error, 8 retried`: beside the figures, because no error is in any of them.
pub fn errors(figures: &Figures) -> StyledLine {
    let errors =
        (figures.errors > 0).then(|| format!("+{}", prose::count(figures.errors, "error")));
    let notes = prose::joined(errors.into_iter().chain(retried(figures)), ", ");
    match notes.as_str() {
        "" => StyledLine::default(),
        notes => styled(Role::Trouble, notes),
    }
}

/// `312.0k tokens`.
pub fn tokens_with_unit(total: &SpentTotal, unit: &str) -> Option<String> {
    let tokens = total.spent.tokens()?;
    Some(format!("{} {unit}", prose::compact(tokens)))
}

/// `$0.820`; `$0.820+` when some of it is not known.
pub fn dollars(total: &SpentTotal) -> Option<String> {
    let more = if total.lacks_cost() { "+" } else { "" };
    total.spent.cost_usd.map(|cost| prose::dollars(cost) + more)
}

/// `312.0k tokens, $0.820`. Says of how many trials a figure is known where it is not of all. Empty when of none.
pub fn spent(total: &SpentTotal) -> String {
    let parts = [
        tokens_with_unit(total, "tokens")
            .map(|text| text + &known_of(total.trials_with_tokens, total.trials)),
        total
            .spent
            .cost_usd
            .map(|cost| prose::dollars(cost) + &known_of(total.trials_with_cost, total.trials)),
    ];
    prose::joined(parts.into_iter().flatten(), ", ")
}

/// `312.0k tokens, $0.820; $0.420 of it by judges`: the spending of a run. `None` when nothing of it is known.
pub fn spent_on(results: &Results) -> Option<String> {
    let mut by_judges = Spent::default();
    for trial in &results.trials {
        for usage in judges(&trial.report) {
            by_judges.add(&usage);
        }
    }
    let all = spent(&results.summary.spent);
    let by_judges = by_judges.cost_usd.map(prose::dollars);
    let by_judges = by_judges.map_or_else(String::new, |cost| format!("; {cost} of it by judges"));
    (!all.is_empty()).then(|| all + &by_judges)
}

fn known_of(known: usize, trials: usize) -> String {
    if known < trials {
        format!(" (known of {known} of {trials} trials)")
    } else {
        String::new()
    }
}

/// By the score where there is one: half of the tests passed is not nothing.
fn role(figures: &Figures) -> Role {
    figures
        .mean_score
        .or(figures.pass_rate)
        .map_or(Role::Dim, Role::of_score)
}

/// A text, or the sign for what is not known.
pub fn known(text: Option<String>) -> StyledLine {
    text.map_or_else(unknown, |text| plain(&text))
}

fn unknown() -> StyledLine {
    dim(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use terca_core::analysis::metrics::METRICS;
    use terca_core::transcript::Usage;

    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::Palette;

    #[test]
    fn nothing_is_known_of_nothing() {
        let nothing = Figures::default();
        assert_eq!(passed(&nothing).render(Palette::new(false)), UNKNOWN);
        assert!(errors(&nothing).is_empty());
        for metric in &METRICS {
            let shown = figure(metric, &nothing).render(Palette::new(false));
            assert_eq!(shown, UNKNOWN);
        }
    }

    #[test]
    fn what_is_in_flight_counts_and_what_is_not_reported_is_marked() {
        let mut script = Script::new(fixture::heads(4, 1, 1), 2);
        let shown = |script: &Script| {
            let total = script.state.spent_with_live();
            [tokens_with_unit(&total, "tok"), dollars(&total)].map(Option::unwrap_or_default)
        };
        assert_eq!(shown(&script), ["", ""]);
        script.start(1).doing(1, "npm test", 900);
        assert_eq!(shown(&script), ["900 tok", ""]);
        // Twenty seconds are ten thousand tokens, which take the place of those told on the way.
        script
            .finish(1, &fixture::passed(20.0))
            .start(2)
            .doing(2, "npm test", 500);
        assert_eq!(shown(&script), ["10.5k tok", "$0.016"]);
        let mut silent = fixture::passed(20.0);
        silent.stats.usage = Usage::default();
        script.finish(2, &silent);
        assert_eq!(shown(&script), ["10.0k tok", "$0.016+"]);
        assert_eq!(
            spent(&script.state.spent()),
            "10.0k tokens (known of 1 of 2 trials), $0.016 (known of 1 of 2 trials)"
        );
        assert_eq!(spent(&SpentTotal::default()), "");
    }
}
