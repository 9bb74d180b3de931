//! The verdicts about the experiments: one table with one plot, the first thing on a page.

use maud::{Markup, html};
use terca_core::analysis::metrics::{COMPARISON_METRICS, ComparisonMetric};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::{signed, signed_score, thousands};
use terca_core::analysis::summary::{
    AblationSummary, Comparison, Effect, Measure, PartEffect, Summary, Verdict, remarks,
};
use terca_core::run::event::RunStatus;

use super::scale::Scale;
use super::text::{or_dash, sentence};
use crate::text::ablation::{in_words, opening, per_thousand};
use crate::text::compared::errors;
use crate::text::verdicts::delivered;
use crate::text::verdicts::no_verdict;

const WAITING: &str = "Experiments are compared when the run has ended. A p-value is only valid if it is not checked \
                       again and again while trials come in.";

/// Returns the table of comparisons, or a remark while the run goes on.
pub fn verdicts(results: &Results) -> Markup {
    let summary = &results.summary;
    let is_waiting = summary.comparisons.is_empty() && will_compare(results);
    let reason = no_verdict(results);
    html! {
        @if is_waiting || !summary.comparisons.is_empty() || !reason.is_empty() {
            section aria-labelledby="verdicts-title" {
                h2 #verdicts-title { "Verdicts" }
                @if is_waiting { p.quiet { (WAITING) } }
                @for line in &reason { p.quiet { (sentence(line)) } }
                @if !summary.comparisons.is_empty() { (table(summary)) }
            }
        }
    }
}

/// Returns the remarks about evals that tell less than they seem to.
pub fn remarks(summary: &Summary) -> Markup {
    let sentences = remarks::sentences(&summary.remarks);
    html! {
        @if !sentences.is_empty() {
            section aria-labelledby="remarks-title" {
                h2 #remarks-title { "Remarks" }
                ul { @for line in &sentences { li { (sentence(line)) } } }
            }
        }
    }
}

fn table(summary: &Summary) -> Markup {
    let baseline = summary.comparisons.first().map(|one| one.baseline.as_str());
    let title = format!("against {}", baseline.unwrap_or_default());
    let several = summary.comparisons.iter().any(|one| one.place.is_none());
    let place = |one: &Comparison| match &one.place {
        Some(place) => place.clone(),
        None if several => "all environments".to_owned(),
        None => String::new(),
    };
    let comparisons = Comparisons {
        of: &summary.comparisons,
        title: &title,
        names: summary
            .comparisons
            .iter()
            .map(|one| [one.arm.clone(), place(one)])
            .collect(),
        words: words(&summary.comparisons),
        delivered: summary
            .comparisons
            .iter()
            .map(|one| delivered(one, summary))
            .collect(),
        margin: summary.margin,
    };
    comparisons.table()
}

/// Returns whether the run has experiments and still goes on.
fn will_compare(results: &Results) -> bool {
    let has_experiments = results
        .summary
        .variants
        .iter()
        .any(|variant| variant.experiment != results.summary.baseline);
    has_experiments && results.status == RunStatus::Running
}

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

/// Returns the table of parts, with one plot.
pub fn parts(summary: &Summary, ablation: &AblationSummary) -> Markup {
    let parts = &ablation.parts;
    let compared: Vec<Comparison> = parts.iter().map(|part| part.comparison.clone()).collect();
    let comparisons = Comparisons {
        of: &compared,
        title: ablation.kind.noun(),
        names: parts
            .iter()
            .map(|part| [part.name.clone(), size(part)])
            .collect(),
        words: parts.iter().map(|part| part.finding.as_str()).collect(),
        delivered: vec![Vec::new(); parts.len()],
        margin: summary.margin,
    };
    html! {
        section aria-labelledby="verdicts-title" {
            h2 #verdicts-title { "Parts" }
            p.quiet { (sentence(&opening(ablation))) }
            (comparisons.table())
            ul.notes {
                @for (label, text) in in_words(summary, ablation) {
                    li { (label) (sentence(&text)) }
                }
            }
        }
    }
}

/// Returns the size of a part, and its effect for each 1,000 tokens.
fn size(part: &PartEffect) -> String {
    let Some(tokens) = part.tokens else {
        return String::new();
    };
    let size = format!("about {} tokens", thousands(tokens));
    match part.per_thousand_tokens {
        Some(value) => format!("{size}, {} per 1,000", per_thousand(part, value)),
        None => size,
    }
}
