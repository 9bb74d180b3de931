//! The effects on score, tokens, cost and time, with their intervals: one plot for each figure, a row for each comparison.
//!
//! The score is on a line from − to + with 0 in the middle, ratios on a logarithmic one with 1 × in the middle.

use maud::{Markup, html};
use terca_core::analysis::summary::wording::{probability, signed_score, times};
use terca_core::analysis::summary::{Comparison, Effect, Summary};
use terca_core::stats::{ALPHA, Interval};

use super::comparisons::{far, marks};
use super::pieces::or_dash;
use super::scale::Scale;

/// A figure that a comparison has beside the one of its verdict.
struct Figure {
    title: &'static str,
    read: fn(&Comparison) -> &Effect,
    is_ratio: bool,
}

const FIGURES: [Figure; 4] = [
    Figure {
        title: "mean score",
        read: |comparison| &comparison.mean_score,
        is_ratio: false,
    },
    Figure {
        title: "tokens",
        read: |comparison| &comparison.tokens,
        is_ratio: true,
    },
    Figure {
        title: "cost",
        read: |comparison| &comparison.cost_usd,
        is_ratio: true,
    },
    Figure {
        title: "time",
        read: |comparison| &comparison.seconds,
        is_ratio: true,
    },
];

/// Returns a table for each figure that a comparison has.
pub fn effects(summary: &Summary) -> Markup {
    let is_known = |figure: &&Figure| {
        let read = figure.read;
        summary
            .comparisons
            .iter()
            .any(|one| read(one).value.is_some())
    };
    let known: Vec<&Figure> = FIGURES.iter().filter(is_known).collect();
    html! {
        @if !known.is_empty() {
            section aria-labelledby="effects-title" {
                h2 #effects-title { "Effects on score, tokens, cost and time" }
                div.cards {
                    @for figure in known { (card(figure, summary)) }
                }
                p.quiet.reading {
                    "95 % intervals; p is adjusted for the comparisons. A colour is given only to a difference that was shown."
                }
            }
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
        if !self.is_ratio {
            let ends = effects.iter().flat_map(|effect| far(effect));
            return Scale::of_differences(ends.fold(0.0, f64::max), signed_score);
        }
        let ends = effects.iter().flat_map(|effect| far(effect));
        let distances = ends.map(|ratio| ratio.max(1e-9).ln().abs());
        Scale::of_ratios(distances.fold(0.0, f64::max))
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
