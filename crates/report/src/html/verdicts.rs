//! What the run says about its experiments: first of all, in sentences.

use terca_core::analysis::results::Results;
use terca_core::analysis::summary::{Comparison, Summary, Verdict};
use terca_core::run::event::RunStatus;

use super::markup::{Html, el, prose};

pub fn verdicts(results: &Results) -> Html {
    let summary = &results.summary;
    if summary.comparisons.is_empty() {
        return waiting(results).map_or_else(Html::new, |text| {
            section(vec![el("p").class("quiet").child(prose(text)).into()])
        });
    }
    section(
        summary
            .comparisons
            .iter()
            .map(|comparison| card(comparison, summary))
            .collect(),
    )
}

fn section(children: Vec<Html>) -> Html {
    el("section")
        .attr("aria-labelledby", "verdicts-title")
        .child(el("h2").attr("id", "verdicts-title").text("Verdicts"))
        .child(el("div").class("cards").children(children))
        .into()
}

/// A p-value that is looked at until it pleases is not one.
fn waiting(results: &Results) -> Option<&'static str> {
    let several = results
        .summary
        .variants
        .iter()
        .any(|variant| variant.experiment != results.summary.baseline);
    (several && results.status == RunStatus::Running)
        .then_some("Experiments are compared when the run has ended: a p-value that is looked at while trials come in, until it pleases, is not one.")
}

fn card(comparison: &Comparison, summary: &Summary) -> Html {
    let word = comparison.verdict.word();
    let warnings = comparison
        .warnings
        .iter()
        .map(|warning| el("li").class("warning").child(prose(warning)));
    let delivered = delivery(comparison, summary)
        .into_iter()
        .map(|sentence| el("li").child(prose(&sentence)));
    let notes: Vec<Html> = warnings.chain(delivered).map(Html::from).collect();
    let list = (!notes.is_empty()).then(|| el("ul").class("notes").children(notes));
    el("article")
        .class(format!("card verdict {}", class(comparison.verdict)))
        .child(el("p").class("word").text(word))
        .child(el("p").class("sentence").child(prose(&comparison.sentence)))
        .child(list)
        .into()
}

/// What reached the agents of the experiment's arm, in the environment that was compared.
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

pub fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "good",
        Verdict::Worse => "bad",
        Verdict::Equivalent => "same",
        Verdict::Inconclusive => "unknown",
    }
}
