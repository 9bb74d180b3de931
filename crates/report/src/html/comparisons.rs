//! Comparisons as one table with one plot: a row for each, its sentence below it.
//!
//! The figures are those of the terminal's table, in its words ([`COMPARISON_METRICS`]). The pages of a run and of two runs
//! both use it.

use maud::{Markup, html};
use terca_core::analysis::metrics::{COMPARISON_METRICS, ComparisonMetric};
use terca_core::analysis::summary::wording::{signed, signed_score};
use terca_core::analysis::summary::{Comparison, Effect, Measure, Verdict};

use super::foreign::sentence;
use super::pieces::or_dash;
use super::scale::Scale;
use crate::text::compared::errors;

/// The column that the plot follows.
const BEFORE_PLOT: &str = "p";
/// The columns that are not figures: names, verdict, plot and delivery.
const OTHER_COLUMNS: usize = 4;

/// The comparisons of a page.
#[derive(Debug)]
pub struct Comparisons<'a> {
    /// The comparisons, in the order of their rows.
    pub of: &'a [Comparison],
    /// The words over the names.
    pub title: &'a str,
    /// Arm and place of each.
    pub names: Vec<[String; 2]>,
    /// The word for what was found of each.
    pub words: Vec<&'static str>,
    /// Says what reached the agents of each.
    pub delivered: Vec<Vec<String>>,
    /// Differences that are smaller make no difference.
    pub margin: f64,
}

impl Comparisons<'_> {
    /// Returns the table.
    pub fn table(&self) -> Markup {
        let scale = self.scale();
        let metrics = self.metrics();
        html! {
            table.comparisons {
                caption.unseen { "Comparisons with the baseline" }
                thead { (self.titles(&scale, &metrics)) }
                @for number in 0..self.of.len() {
                    tbody { (self.row(number, &scale, &metrics)) }
                }
            }
            (self.remarks())
        }
    }

    /// Returns the scale that all rows share.
    fn scale(&self) -> Scale {
        let ends = self.of.iter().flat_map(|one| far(one.decisive()));
        let is_score = |one: &Comparison| one.measure == Measure::Score;
        let words = if self.of.iter().all(is_score) {
            signed_score
        } else {
            signed
        };
        Scale::of_differences(ends.chain([self.margin]).fold(0.0, f64::max), words)
    }

    /// Returns the figures that a comparison has.
    fn metrics(&self) -> Vec<&'static ComparisonMetric> {
        let is_known = |metric: &&ComparisonMetric| {
            let text = metric.text;
            self.of.iter().any(|one| text(one).is_some())
        };
        COMPARISON_METRICS.iter().filter(is_known).collect()
    }

    fn has_delivery(&self) -> bool {
        self.delivered.iter().any(|texts| !texts.is_empty())
    }

    fn titles(&self, scale: &Scale, metrics: &[&ComparisonMetric]) -> Markup {
        let plot_at = plot_at(metrics);
        html! {
            tr {
                th scope="col" { (self.title) }
                th scope="col" { "verdict" }
                @for (number, metric) in metrics.iter().enumerate() {
                    @if number == plot_at { (plot_title(scale)) }
                    th.num scope="col" { (metric.title) }
                }
                @if plot_at == metrics.len() { (plot_title(scale)) }
                @if self.has_delivery() { th scope="col" { "delivered" } }
            }
        }
    }

    fn row(&self, number: usize, scale: &Scale, metrics: &[&ComparisonMetric]) -> Markup {
        let comparison = &self.of[number];
        let [arm, place] = &self.names[number];
        let plot_at = plot_at(metrics);
        html! {
            tr.row {
                th scope="row" {
                    b { (arm) }
                    @if !place.is_empty() { small { (place) } }
                }
                td.verdict { (self.word(number)) }
                @for (index, metric) in metrics.iter().enumerate() {
                    @if index == plot_at { (self.plot(scale, comparison)) }
                    td.num data-title=(metric.title) { (or_dash((metric.text)(comparison))) }
                }
                @if plot_at == metrics.len() { (self.plot(scale, comparison)) }
                @if self.has_delivery() {
                    td.delivered {
                        @for text in &self.delivered[number] { small { (sentence(text)) } }
                    }
                }
            }
            (self.told(number, metrics.len() + OTHER_COLUMNS))
        }
    }

    fn plot(&self, scale: &Scale, comparison: &Comparison) -> Markup {
        let marks = html! {
            (scale.band(-self.margin, self.margin))
            (marks(scale, comparison.decisive(), 0.0))
        };
        html! { td.plot { (scale.plot(tone(comparison.verdict), &marks)) } }
    }

    /// Returns the sentence of a row, which the script folds.
    fn told(&self, number: usize, columns: usize) -> Markup {
        let comparison = &self.of[number];
        html! {
            tr.told id={ "told-" (number) } {
                td colspan=(columns) {
                    p.sentence {
                        @match comparison.sentence.strip_prefix(self.words[number]) {
                            Some(rest) => { b { (self.words[number]) } (sentence(rest)) }
                            None => (sentence(&comparison.sentence)),
                        }
                    }
                    ul.notes {
                        @for warning in &comparison.warnings { li.warning { (sentence(warning)) } }
                        @if let Some(errors) = errors(comparison) {
                            li { "errors, counted separately: " (sentence(&errors)) }
                        }
                        @for text in &self.delivered[number] { li { (sentence(text)) } }
                    }
                }
            }
        }
    }

    /// Returns the word of a row, as a button that unfolds its sentence.
    fn word(&self, number: usize) -> Markup {
        let comparison = &self.of[number];
        let class = tone(comparison.verdict);
        let (ended, planned) = comparison.ended();
        html! {
            button class={ "word " (class) } type="button" aria-expanded="false" aria-controls={ "told-" (number) } {
                (self.words[number])
            }
            @if ended < planned { small { (ended) " of " (planned) " trials ended" } }
        }
    }

    /// Says how to read the table.
    fn remarks(&self) -> Markup {
        let adjusted = self.of.iter().map(|one| one.comparisons).max().unwrap_or(1);
        let is_open = |metric: &ComparisonMetric| {
            let mut texts = self.of.iter().filter_map(metric.text);
            texts.any(|text| text.starts_with('('))
        };
        html! {
            p.quiet.reading {
                "The shaded band is the margin: smaller differences do not matter. Intervals are 95 % intervals of each \
                 comparison by itself"
                @if adjusted > 1 {
                    "; p is adjusted for " (adjusted) " comparisons, so a verdict can be inconclusive although its \
                     interval leaves out 0"
                }
                "."
                @if COMPARISON_METRICS.iter().any(is_open) { " (…×): no difference was shown." }
            }
        }
    }
}

/// Returns the words of verdicts.
pub fn words(comparisons: &[Comparison]) -> Vec<&'static str> {
    comparisons.iter().map(|one| one.verdict.as_str()).collect()
}

fn plot_title(scale: &Scale) -> Markup {
    html! { th.plot scope="col" { span.unseen { "plot" } (scale.axis()) } }
}

/// Returns the number of figures before the plot.
fn plot_at(metrics: &[&ComparisonMetric]) -> usize {
    let before = COMPARISON_METRICS.iter().map(|metric| metric.title);
    let before: Vec<&str> = before.take_while(|title| *title != BEFORE_PLOT).collect();
    let is_before =
        |metric: &&&ComparisonMetric| metric.title == BEFORE_PLOT || before.contains(&metric.title);
    metrics.iter().filter(is_before).count()
}

/// Returns the marks of an effect: its interval, its value, and the line of no effect.
pub fn marks(scale: &Scale, effect: &Effect, none: f64) -> Markup {
    html! {
        (scale.upright("nought", none))
        @if let Some(interval) = effect.interval {
            (scale.stretch("interval", interval.low, interval.high))
        }
        @if let Some(value) = effect.value { (scale.dot("mark", value, 50.0)) }
    }
}

/// Returns the distances from 0 of a value and of the ends of its interval.
pub fn far(effect: &Effect) -> impl Iterator<Item = f64> {
    let low = effect.interval.map(|interval| interval.low);
    let high = effect.interval.map(|interval| interval.high);
    let ends = [low, high, effect.value].into_iter().flatten();
    ends.map(f64::abs).filter(|end| end.is_finite())
}

/// Returns the class of a verdict. Only findings have a colour.
pub fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "good",
        Verdict::Worse => "bad",
        Verdict::Equivalent => "same",
        Verdict::Inconclusive => "unknown",
    }
}
