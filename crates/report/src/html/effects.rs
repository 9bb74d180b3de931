//! The effects of each experiment on each figure, with their intervals: words in cells, and a mark on a line beside them.
//!
//! Differences (pass rate, score) are on a line from − to + with nought in the middle; ratios (tokens, cost, time) on a
//! logarithmic one with 1 × in the middle. All comparisons share the two scales, so that the eye can compare them.

use maud::{Markup, html};
use terca_core::analysis::summary::wording::{points, probability, signed, times};
use terca_core::analysis::summary::{Comparison, Effect, EvalEffect, Summary};
use terca_core::stats::{ALPHA, Interval};

use super::pieces::or_dash;
use super::plot::{WIDE, axis, line, plot, round, table};

const TALL: f64 = 24.0;
const TITLES: [&str; 4] = ["figure", "effect", "95 % interval, p", "plot"];

/// Returns a card for each comparison.
pub fn effects(summary: &Summary) -> Markup {
    let differences = Scale::of_differences(summary);
    let ratios = Scale::of_ratios(summary);
    html! {
        @if !summary.comparisons.is_empty() {
            section aria-labelledby="effects-title" {
                h2 #effects-title { "Effects" }
                p.quiet {
                    "Each experiment against its baseline on these evals, with 95 % intervals. "
                    "Differences within the shaded band are too small to matter."
                }
                div.cards {
                    @for comparison in &summary.comparisons {
                        (card(comparison, summary.margin, &differences, &ratios))
                    }
                }
            }
        }
    }
}

/// Returns one table with a row for each comparison, on one scale.
pub fn forest(summary: &Summary) -> Markup {
    let scale = Scale::of_differences(summary);
    let name = |comparison: &Comparison| {
        let place = comparison.place.as_deref().unwrap_or("all");
        let word = comparison.verdict.as_str();
        format!("{} ({place}) {word}", comparison.arm)
    };
    let rows = html! {
        @for comparison in &summary.comparisons {
            (scale.row(&name(comparison), comparison.decisive(), Some(summary.margin), Good::More))
        }
        (scale.axis())
    };
    table(["experiment", TITLES[1], TITLES[2], TITLES[3]], &rows)
}

fn card(comparison: &Comparison, margin: f64, differences: &Scale, ratios: &Scale) -> Markup {
    let environment = comparison.place.as_deref();
    let rows = html! {
        (differences.row("pass\u{a0}rate", &comparison.pass_rate, Some(margin), Good::More))
        (differences.row("mean\u{a0}score", &comparison.mean_score, None, Good::More))
        (differences.axis())
        (ratio_rows(comparison, ratios))
    };
    html! {
        figure.card {
            figcaption {
                code { (comparison.arm) }
                " against "
                code { (comparison.baseline) }
                span.quiet { " on " (environment.unwrap_or("all environments")) }
            }
            (table(TITLES, &rows))
            (each_eval(&comparison.per_eval))
        }
    }
}

/// Returns the rows of the ratios that are known, and their axis.
fn ratio_rows(comparison: &Comparison, ratios: &Scale) -> Markup {
    let all = [
        ("tokens", &comparison.tokens),
        ("cost", &comparison.cost_usd),
        ("time", &comparison.seconds),
    ];
    let known: Vec<(&str, &Effect)> = all
        .into_iter()
        .filter(|(_, effect)| effect.value.is_some())
        .collect();
    html! {
        @for (name, effect) in &known { (ratios.row(name, effect, None, Good::Less)) }
        @if !known.is_empty() { (ratios.axis()) }
    }
}

fn each_eval(evals: &[EvalEffect]) -> Markup {
    // The differences of single evals are large: their scale is the whole range.
    let scale = Scale {
        figure: Figure::Difference,
        end: 1.0,
    };
    let rows = html! {
        @for eval in evals {
            @let effect = Effect {
                value: Some(eval.difference),
                interval: eval.interval,
                p: Some(eval.p),
                p_adjusted: Some(eval.p_adjusted),
                ..Effect::default()
            };
            (scale.row(&eval.eval, &effect, None, Good::More))
        }
        (scale.axis())
    };
    html! {
        @if evals.len() > 1 {
            details {
                summary { "Each of " (evals.len()) " evals by itself" }
                (table(TITLES, &rows))
            }
        }
    }
}

/// The direction that is an improvement.
#[derive(Debug, Clone, Copy)]
enum Good {
    More,
    Less,
}

#[derive(Debug, Clone, Copy)]
enum Figure {
    Difference,
    Ratio,
}

/// A line with its middle at no effect.
#[derive(Debug)]
struct Scale {
    figure: Figure,
    /// The distance to either side: a difference, or the logarithm of a ratio.
    end: f64,
}

impl Scale {
    fn of_differences(summary: &Summary) -> Self {
        let effects = summary
            .comparisons
            .iter()
            .flat_map(|one| [&one.pass_rate, &one.mean_score]);
        let widest = widest(effects, |value| value);
        Scale {
            figure: Figure::Difference,
            end: ((widest * 10.0).ceil() / 10.0).clamp(0.1, 1.0),
        }
    }

    fn of_ratios(summary: &Summary) -> Self {
        let effects = summary
            .comparisons
            .iter()
            .flat_map(|one| [&one.tokens, &one.cost_usd, &one.seconds]);
        let widest = widest(effects, f64::ln).clamp(1.5_f64.ln(), 16_f64.ln());
        Scale {
            figure: Figure::Ratio,
            end: widest * 1.05,
        }
    }

    fn row(&self, name: &str, effect: &Effect, margin: Option<f64>, good: Good) -> Markup {
        let p = effect.p_adjusted.or(effect.p);
        html! {
            tr {
                th scope="row" { (name) }
                td.value { (or_dash(effect.value.map(|value| self.value(value)))) }
                td.detail {
                    @if let Some(interval) = effect.interval { span { (self.interval(interval)) } }
                    @if let Some(p) = p { span { "p " (with_sign(&probability(p))) } }
                    @if let (None, Some(reason)) = (effect.interval, effect.cannot_tell) {
                        span.why { (reason.to_string()) }
                    }
                }
                td.plot { (self.plot(effect, margin, good)) }
            }
        }
    }

    fn value(&self, value: f64) -> String {
        match self.figure {
            Figure::Difference => points(value),
            Figure::Ratio => format!("{} ×", times(value)),
        }
    }

    fn interval(&self, interval: Interval) -> String {
        match self.figure {
            Figure::Difference => format!("{} … {}", signed(interval.low), signed(interval.high)),
            Figure::Ratio => format!("{} … {} ×", times(interval.low), times(interval.high)),
        }
    }

    /// Returns the x coordinate of a value.
    fn place(&self, value: f64) -> f64 {
        let along = match self.figure {
            Figure::Difference => value,
            Figure::Ratio => value.max(1e-9).ln(),
        };
        ((along / self.end).clamp(-1.0, 1.0) + 1.0) / 2.0 * WIDE
    }

    fn plot(&self, effect: &Effect, margin: Option<f64>, good: Good) -> Markup {
        let middle = TALL / 2.0;
        let marks = html! {
            @if let Some(margin) = margin {
                @let low = self.place(-margin);
                @let high = self.place(margin);
                rect.band x=(round(low)) y="0" width=(round(high - low)) height=(TALL) {}
            }
            (line("nought", WIDE / 2.0, 0.0, WIDE / 2.0, TALL))
            @if let Some(interval) = effect.interval {
                (line("interval", self.place(interval.low), middle, self.place(interval.high), middle))
            }
            @if let Some(value) = effect.value {
                (line("mark", self.place(value), middle, self.place(value), middle))
            }
        };
        plot(self.tone(effect, good), TALL, &marks)
    }

    /// Returns a colour only for an effect that is found by the rule of the verdicts.
    fn tone(&self, effect: &Effect, good: Good) -> &'static str {
        let is_found = effect.p_adjusted.or(effect.p).is_some_and(|p| p < ALPHA);
        let Some(interval) = effect.interval.filter(|_| is_found) else {
            return "unknown";
        };
        let none = match self.figure {
            Figure::Difference => 0.0,
            Figure::Ratio => 1.0,
        };
        match (interval.low > none, interval.high < none, good) {
            (true, _, Good::More) | (_, true, Good::Less) => "good",
            (true, _, Good::Less) | (_, true, Good::More) => "bad",
            _ => "unknown",
        }
    }

    /// Returns the row that labels both ends and the middle.
    fn axis(&self) -> Markup {
        match self.figure {
            Figure::Difference => axis(&[signed(-self.end), "0".to_owned(), signed(self.end)]),
            Figure::Ratio => {
                let ratios = [(-self.end).exp(), 1.0, self.end.exp()];
                axis(&ratios.map(|ratio| format!("{} ×", times(ratio))))
            }
        }
    }
}

/// Returns the largest distance from no effect, of values and of the ends of their intervals.
fn widest<'a>(effects: impl Iterator<Item = &'a Effect>, along: fn(f64) -> f64) -> f64 {
    effects
        .flat_map(|effect| {
            let low = effect.interval.map(|interval| interval.low);
            let high = effect.interval.map(|interval| interval.high);
            [low, high, effect.value]
        })
        .flatten()
        .map(|value| along(value).abs())
        .filter(|value| value.is_finite())
        .fold(0.0, f64::max)
}

/// Returns `= 0.02` or `< 0.001`.
fn with_sign(p: &str) -> String {
    if p.starts_with('<') {
        p.to_owned()
    } else {
        format!("= {p}")
    }
}
