//! The verdicts about the experiments: one table with one plot, the first thing on a page.

use maud::{Markup, html};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::{Comparison, Summary, remarks};
use terca_core::run::event::RunStatus;

use super::comparisons::{Comparisons, words};
use super::foreign::sentence;
use crate::text::no_verdict::no_verdict;
use crate::text::verdicts::delivered;

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
