//! The verdicts about the experiments: one table with one plot, the first thing on a page.

use maud::{Markup, html};
use terca_core::analysis::metrics::ComparisonMetric;
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::{signed, signed_score, thousands};
use terca_core::analysis::summary::{
    AblationSummary, Comparison, Effect, Measure, PartEffect, Summary, Verdict, remarks,
};
use terca_core::run::event::RunStatus;

use super::scale::Scale;
use super::text::{or_dash, section, sentence};
use crate::text::ablation::{in_words, opening, per_thousand};
use crate::text::compared::{ERRORS, errors};
use crate::text::comparison_table::{distances, has_brackets, plot_at, shown_metrics};
use crate::text::verdicts::{delivered, no_verdict};

const WAITING: &str = "Experiments are compared when the run has ended. A p-value is only valid if it is not checked \
                       again and again while trials come in.";

/// Returns the table of comparisons, or a remark while the run goes on.
pub fn verdicts(results: &Results) -> Markup {
    let summary = &results.summary;
    let comparisons = &summary.comparisons;
    let is_waiting = comparisons.is_empty() && will_compare(results);
    let reason = no_verdict(results);
    if !is_waiting && comparisons.is_empty() && reason.is_empty() {
        return html! {};
    }
    let several = comparisons.iter().any(|one| one.place.is_none());
    let place = |one: &Comparison| match &one.place {
        Some(place) => place.clone(),
        None if several => "all environments".to_owned(),
        None => String::new(),
    };
    let rows: Vec<Row<'_>> = comparisons
        .iter()
        .map(|comparison| Row {
            delivered: delivered(comparison, summary),
            ..Row::of(comparison, [comparison.arm.clone(), place(comparison)])
        })
        .collect();
    let body = html! {
        @if is_waiting { p.quiet { (WAITING) } }
        @for line in &reason { p.quiet { (sentence(line)) } }
        @if let Some(first) = comparisons.first() {
            (table(&format!("against {}", first.baseline), &rows, summary.margin))
        }
    };
    section("verdicts", "Verdicts", &body)
}

/// Returns the remarks about evals that tell less than they seem to.
pub fn remarks(summary: &Summary) -> Markup {
    let sentences = remarks::sentences(&summary.remarks);
    let list = html! { ul { @for line in &sentences { li { (sentence(line)) } } } };
    html! {
        @if !sentences.is_empty() { (section("remarks", "Remarks", &list)) }
    }
}

/// Returns whether the run has experiments and still goes on.
fn will_compare(results: &Results) -> bool {
    let mut variants = results.summary.variants.iter();
    let has_experiments = variants.any(|one| one.experiment != results.summary.baseline);
    has_experiments && results.status == RunStatus::Running
}

/// The columns that are not figures: names, verdict, plot and delivery.
const OTHER_COLUMNS: usize = 4;

/// A comparison on a page.
pub struct Row<'a> {
    comparison: &'a Comparison,
    /// Arm and place.
    names: [String; 2],
    /// The word for what was found.
    word: &'static str,
    /// Says what reached the agents.
    delivered: Vec<String>,
}

impl<'a> Row<'a> {
    /// Returns the row of a comparison, with its arm and place.
    pub fn of(comparison: &'a Comparison, names: [String; 2]) -> Self {
        Row {
            comparison,
            names,
            word: comparison.verdict.as_str(),
            delivered: Vec::new(),
        }
    }
}

/// Returns the table of comparisons. Differences that are smaller than the margin make no difference.
pub fn table(title: &str, rows: &[Row<'_>], margin: f64) -> Markup {
    let comparisons: Vec<Comparison> = rows.iter().map(|row| row.comparison.clone()).collect();
    let ends = comparisons.iter().flat_map(|one| distances(one.decisive()));
    let is_score = |one: &Comparison| one.measure == Measure::Score;
    let words = match comparisons.iter().all(is_score) {
        true => signed_score,
        false => signed,
    };
    let table = Table {
        // All rows share the scale.
        scale: Scale::of_differences(ends.chain([margin]).fold(0.0, f64::max), words),
        metrics: shown_metrics(&comparisons.iter(), &[]),
        has_delivery: rows.iter().any(|row| !row.delivered.is_empty()),
        margin,
    };
    let adjusted = comparisons.iter().map(|one| one.comparisons).max();
    let adjusted = adjusted.unwrap_or(1);
    html! {
        table.comparisons {
            caption.unseen { "Comparisons with the baseline" }
            thead { (table.titles(title)) }
            @for (number, row) in rows.iter().enumerate() {
                tbody { (table.row(number, row)) }
            }
        }
        p.quiet.reading {
            "The shaded band is the margin: smaller differences do not matter. Intervals are 95 % intervals of each \
             comparison by itself"
            @if adjusted > 1 {
                "; p is adjusted for " (adjusted) " comparisons, so a verdict can be inconclusive although its \
                 interval leaves out 0"
            }
            "."
            @if has_brackets(&comparisons, &table.metrics) { " (…×): no difference was shown." }
        }
    }
}

/// What the rows of a table share.
struct Table {
    scale: Scale,
    metrics: Vec<&'static ComparisonMetric>,
    has_delivery: bool,
    margin: f64,
}

impl Table {
    fn titles(&self, title: &str) -> Markup {
        let (before, after) = self.metrics.split_at(plot_at(&self.metrics));
        html! {
            tr {
                th scope="col" { (title) }
                th scope="col" { "verdict" }
                @for metric in before { th.num scope="col" { (metric.title) } }
                th.plot scope="col" { span.unseen { "plot" } (self.scale.axis()) }
                @for metric in after { th.num scope="col" { (metric.title) } }
                @if self.has_delivery { th scope="col" { "delivered" } }
            }
        }
    }

    fn row(&self, number: usize, row: &Row<'_>) -> Markup {
        let comparison = row.comparison;
        let [arm, place] = &row.names;
        let (before, after) = self.metrics.split_at(plot_at(&self.metrics));
        let figure = |metric: &ComparisonMetric| {
            html! { td.num data-title=(metric.title) { (or_dash((metric.text)(comparison))) } }
        };
        let marks = html! {
            (self.scale.band(-self.margin, self.margin))
            (marks(&self.scale, comparison.decisive(), 0.0))
        };
        html! {
            tr.row {
                th scope="row" {
                    b { (arm) }
                    @if !place.is_empty() { small { (place) } }
                }
                td.verdict { (word(number, row)) }
                @for metric in before { (figure(metric)) }
                td.plot { (self.scale.plot(tone(comparison.verdict), &marks)) }
                @for metric in after { (figure(metric)) }
                @if self.has_delivery {
                    td.delivered {
                        @for text in &row.delivered { small { (sentence(text)) } }
                    }
                }
            }
            (self.told(number, row))
        }
    }

    /// Returns the sentence of a row, which the script folds.
    fn told(&self, number: usize, row: &Row<'_>) -> Markup {
        let comparison = row.comparison;
        html! {
            tr.told id={ "told-" (number) } {
                td colspan=(self.metrics.len() + OTHER_COLUMNS) {
                    p.sentence {
                        @match comparison.sentence.strip_prefix(row.word) {
                            Some(rest) => { b { (row.word) } (sentence(rest)) }
                            None => (sentence(&comparison.sentence)),
                        }
                    }
                    ul.notes {
                        @for warning in &comparison.warnings { li.warning { (sentence(warning)) } }
                        @if let Some(errors) = errors(comparison) { li { (ERRORS) (sentence(&errors)) } }
                        @for text in &row.delivered { li { (sentence(text)) } }
                    }
                }
            }
        }
    }
}

/// Returns the word of a row, as a button that unfolds its sentence.
fn word(number: usize, row: &Row<'_>) -> Markup {
    let class = tone(row.comparison.verdict);
    let (ended, planned) = row.comparison.ended();
    html! {
        button class={ "word " (class) } type="button" aria-expanded="false" aria-controls={ "told-" (number) } {
            (row.word)
        }
        @if ended < planned { small { (ended) " of " (planned) " trials ended" } }
    }
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

/// Returns the class of a verdict. Only findings have a colour.
fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "good",
        Verdict::Worse => "bad",
        Verdict::Equivalent => "same",
        Verdict::Inconclusive => "unknown",
    }
}

/// Returns the table of parts, with one plot.
pub fn parts(summary: &Summary, ablation: &AblationSummary) -> Markup {
    let rows = ablation.parts.iter().map(|part| Row {
        word: part.finding.as_str(),
        ..Row::of(&part.comparison, [part.name.clone(), size(part)])
    });
    let rows: Vec<Row<'_>> = rows.collect();
    let body = html! {
        p.quiet { (sentence(&opening(ablation))) }
        (table(ablation.kind.noun(), &rows, summary.margin))
        ul.notes {
            @for (label, text) in in_words(summary, ablation) {
                li { (label) (sentence(&text)) }
            }
        }
    };
    section("verdicts", "Parts", &body)
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
