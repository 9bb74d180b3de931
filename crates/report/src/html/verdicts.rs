//! The verdicts about the experiments, in sentences: the first thing on a page.

use maud::{Markup, html};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::{Comparison, Summary, Verdict};
use terca_core::run::event::RunStatus;

use super::effects::forest;
use super::foreign::sentence;
use crate::text::no_verdict::no_verdict;

const WAITING: &str = "Experiments are compared when the run has ended. A p-value is only valid if it is not checked \
                       again and again while trials come in.";

/// More comparisons have one table with one scale, and their sentences are folded.
const FEW: usize = 3;

/// Returns a card for each comparison, or a remark while the run goes on.
pub fn verdicts(results: &Results) -> Markup {
    let summary = &results.summary;
    let is_waiting = summary.comparisons.is_empty() && will_compare(results);
    let reason = no_verdict(results);
    html! {
        @if is_waiting || !summary.comparisons.is_empty() || !reason.is_empty() {
            section aria-labelledby="verdicts-title" {
                h2 #verdicts-title { "Verdicts" }
                div.cards {
                    @if is_waiting { p.quiet { (WAITING) } }
                    @for line in &reason { p.quiet { (sentence(line)) } }
                    @if summary.comparisons.len() > FEW {
                        figure.card { (forest(summary)) }
                    } @else {
                        (cards(summary))
                    }
                }
                @if summary.comparisons.len() > FEW {
                    details {
                        summary { "Each of " (summary.comparisons.len()) " verdicts in sentences" }
                        div.cards { (cards(summary)) }
                    }
                }
            }
        }
    }
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

fn cards(summary: &Summary) -> Markup {
    html! {
        @for comparison in &summary.comparisons { (card(comparison, summary)) }
    }
}

fn card(comparison: &Comparison, summary: &Summary) -> Markup {
    let delivered = delivery(comparison, summary);
    html! {
        article class={ "card verdict " (class(comparison.verdict)) } {
            p.word { (comparison.verdict.as_str()) }
            p.sentence { (sentence(comparison.after_word())) }
            @if !comparison.warnings.is_empty() || !delivered.is_empty() {
                ul.notes {
                    @for warning in &comparison.warnings { li.warning { (sentence(warning)) } }
                    @for text in &delivered { li { (sentence(text)) } }
                }
            }
        }
    }
}

/// Returns what reached the agents of the experiment's arm, in the environment that was compared.
fn delivery(comparison: &Comparison, summary: &Summary) -> Vec<String> {
    let Some(environment) = &comparison.place else {
        return Vec::new();
    };
    let arm = summary.variants.iter().find(|variant| {
        variant.environment == *environment && variant.experiment == comparison.arm
    });
    arm.map(|variant| variant.delivery.sentences())
        .unwrap_or_default()
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "good",
        Verdict::Worse => "bad",
        Verdict::Equivalent => "same",
        Verdict::Inconclusive => "unknown",
    }
}
