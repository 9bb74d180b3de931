//! The effects on score, tokens, cost and time, with their intervals: one plot for each figure, a row for each comparison. And
//! the figures of single trials.
//!
//! The score is on a line from − to + with 0 in the middle, ratios on a logarithmic one with 1 × in the middle.

use maud::{Markup, html};
use terca_core::analysis::metrics::{METRICS, Metric};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::{probability, signed_score, times};
use terca_core::analysis::summary::{Comparison, Effect, Summary};
use terca_core::stats::{ALPHA, Interval};

use super::matrix::Matrix;
use super::scale::Scale;
use super::text::{or_dash, section};
use super::verdicts::marks;
use crate::outcome::of_variant;
use crate::text::comparison_table::distances;

/// A figure that a comparison has beside the one of its verdict.
struct Figure {
    title: &'static str,
    read: fn(&Comparison) -> &Effect,
    is_ratio: bool,
}

const fn figure(title: &'static str, read: fn(&Comparison) -> &Effect, is_ratio: bool) -> Figure {
    Figure {
        title,
        read,
        is_ratio,
    }
}

const FIGURES: [Figure; 4] = [
    figure("mean score", |comparison| &comparison.mean_score, false),
    figure("tokens", |comparison| &comparison.tokens, true),
    figure("cost", |comparison| &comparison.cost_usd, true),
    figure("time", |comparison| &comparison.seconds, true),
];

/// Returns a table for each figure that a comparison has.
pub fn effects(summary: &Summary) -> Markup {
    let comparisons = &summary.comparisons;
    let is_known = |figure: &Figure| {
        comparisons
            .iter()
            .any(|one| (figure.read)(one).value.is_some())
    };
    let known: Vec<&Figure> = FIGURES.iter().filter(|figure| is_known(figure)).collect();
    let body = html! {
        div.cards {
            @for figure in &known { (card(figure, summary)) }
        }
        p.quiet.reading {
            "95 % intervals; p is adjusted for the comparisons. A colour is given only to a difference that was shown."
        }
    };
    html! {
        @if !known.is_empty() {
            (section("effects", "Effects on score, tokens, cost and time", &body))
        }
    }
}

fn card(figure: &Figure, summary: &Summary) -> Markup {
    let effects: Vec<&Effect> = summary.comparisons.iter().map(figure.read).collect();
    let scale = figure.scale(&effects);
    let rows = html! {
        @for (comparison, effect) in summary.comparisons.iter().zip(effects) {
            (figure.row(comparison, effect, &scale))
        }
    };
    let caption = html! { (figure.title) };
    scale.card(&caption, ["comparison", "effect"], &rows)
}

impl Figure {
    fn scale(&self, effects: &[&Effect]) -> Scale {
        let ends = effects.iter().flat_map(|effect| distances(effect));
        if !self.is_ratio {
            return Scale::of_differences(ends.fold(0.0, f64::max), signed_score);
        }
        let ends = ends.map(|ratio| ratio.max(1e-9).ln().abs());
        Scale::of_ratios(ends.fold(0.0, f64::max))
    }

    fn row(&self, comparison: &Comparison, effect: &Effect, scale: &Scale) -> Markup {
        let none = if self.is_ratio { 1.0 } else { 0.0 };
        let p = effect.p_adjusted.or(effect.p);
        html! {
            tr {
                th scope="row" {
                    (comparison.arm)
                    small { (comparison.place.as_deref().unwrap_or("all environments")) }
                }
                td.value {
                    (or_dash(effect.value.map(|value| self.value(value))))
                    small {
                        @if let Some(interval) = effect.interval {
                            span.whole { (self.interval(interval)) }
                            " "
                        }
                        @if let Some(p) = p { span.whole { "p " (with_sign(&probability(p))) } }
                        @if let (None, Some(reason)) = (effect.interval, effect.cannot_tell) {
                            (reason.to_string())
                        }
                    }
                }
                td.plot { (scale.plot(self.tone(effect, none), &marks(scale, effect, none))) }
            }
        }
    }

    fn value(&self, value: f64) -> String {
        if self.is_ratio {
            format!("{} ×", times(value))
        } else {
            signed_score(value)
        }
    }

    fn interval(&self, interval: Interval) -> String {
        let Interval { low, high } = interval;
        if self.is_ratio {
            format!("{} … {} ×", times(low), times(high))
        } else {
            format!("{} … {}", signed_score(low), signed_score(high))
        }
    }

    /// Returns a colour only for an effect that is found by the rule of the verdicts.
    fn tone(&self, effect: &Effect, none: f64) -> &'static str {
        let is_found = effect.p_adjusted.or(effect.p).is_some_and(|p| p < ALPHA);
        let Some(interval) = effect.interval.filter(|_| is_found) else {
            return "unknown";
        };
        // Less is better of what is paid for.
        match (interval.low > none, interval.high < none, self.is_ratio) {
            (true, _, false) | (_, true, true) => "good",
            (true, _, true) | (_, true, false) => "bad",
            _ => "unknown",
        }
    }
}

/// Returns `= 0.02` or `< 0.001`.
fn with_sign(p: &str) -> String {
    if p.starts_with('<') {
        p.to_owned()
    } else {
        format!("= {p}")
    }
}

/// More dots than this show no more, so that only every second, third … is drawn.
const MOST_DOTS: usize = 600;

/// Returns a card for each figure that judged trials have.
pub fn distributions(results: &Results, matrix: &Matrix<'_>) -> Markup {
    let cards = METRICS.iter();
    let cards: Vec<Markup> = cards
        .filter_map(|metric| distribution(metric, results, matrix))
        .collect();
    let body = html! {
        p.quiet { "Each dot is a judged trial. The line is the middle half, and the mark is the median." }
        div.cards { @for card in &cards { (card) } }
    };
    html! {
        @if !cards.is_empty() { (section("spent", "Time, tokens, cost", &body)) }
    }
}

fn distribution(metric: &Metric, results: &Results, matrix: &Matrix<'_>) -> Option<Markup> {
    let samples: Vec<(String, Vec<f64>)> = matrix
        .variants
        .iter()
        .map(|(environment, experiment)| {
            let values = sample(metric, results, environment, experiment);
            (matrix.variant_name(environment, experiment), values)
        })
        .collect();
    let values = samples
        .iter()
        .flat_map(|(_, values)| values.iter().copied());
    let largest = values.clone().fold(0.0, f64::max);
    let least = values.filter(|value| *value > 0.0).fold(largest, f64::min);
    let most_dots = (MOST_DOTS / samples.len().max(1)).max(10);
    let scale = Scale::of_sizes(least, largest, metric.show);
    let caption = html! {
        (metric.column)
        @if scale.is_logarithmic() { span.quiet { " (logarithmic scale)" } }
    };
    let rows = html! {
        @for (variant, values) in &samples { (row(metric, variant, values, &scale, most_dots)) }
    };
    (largest > 0.0).then(|| scale.card(&caption, ["variant", "median and range"], &rows))
}

/// Returns the values of a variant's judged trials, in order.
fn sample(metric: &Metric, results: &Results, environment: &str, experiment: &str) -> Vec<f64> {
    let trials = of_variant(results, environment, experiment);
    let judged = trials.filter(|trial| trial.report.status.is_judged());
    let mut values: Vec<f64> = judged
        .filter_map(|trial| (metric.of_trial)(&trial.report.stats))
        .collect();
    values.sort_by(f64::total_cmp);
    values
}

fn row(metric: &Metric, variant: &str, values: &[f64], scale: &Scale, most_dots: usize) -> Markup {
    html! {
        tr {
            th scope="row" { (variant) }
            td.value {
                (or_dash(quantile(values, 0.5).map(metric.show)))
                small {
                    @if let (Some(least), Some(most)) = (values.first(), values.last()) {
                        ((metric.show)(*least)) " … " ((metric.show)(*most))
                    }
                }
            }
            td.plot { (strip(values, scale, most_dots)) }
        }
    }
}

fn strip(values: &[f64], scale: &Scale, most_dots: usize) -> Markup {
    let half = quantile(values, 0.25).zip(quantile(values, 0.75));
    // Dots in three rows, so that equal values are seen to be several.
    let every = values.len().div_ceil(most_dots).max(1);
    let dots = values.iter().enumerate().step_by(every);
    let marks = html! {
        @if let Some((low, high)) = half { (scale.stretch("half", low, high)) }
        @for (index, value) in dots {
            (scale.dot("dot-of-many", *value, 25.0 + (index % 3 * 25) as f64))
        }
        @if let Some(median) = quantile(values, 0.5) { (scale.upright("median", median)) }
    };
    scale.plot("strip", &marks)
}

/// Returns the value below which a share of the sorted values is, interpolated between neighbours.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[3.0], 0.25), Some(3.0));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), Some(2.5));
    }
}
