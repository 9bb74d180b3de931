//! The top of a run's page: what ran, when, and how it went in one bar.

use jiff::Timestamp;
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::Summary;
use terca_core::run::event::RunStatus;
use terca_core::run::outcome::Status;
use terca_core::text::prose;

use super::markup::{Html, el};

pub fn masthead(results: &Results) -> Html {
    let summary = &results.summary;
    let word = status_word(results.status);
    let title = el("h1").text(&results.suite);
    let facts = el("p")
        .class("facts")
        .child(el("span").class(format!("pill {word}")).text(word))
        .child(el("span").text(&results.run))
        .child(results.started_at.map(time))
        .child(length(results).map(|text| el("span").text(text)))
        .child(el("span").text(prose::count(summary.trials, "trial")))
        .child(spent(results).map(|text| el("span").text(text)));
    el("header")
        .class("masthead")
        .child(title)
        .child(facts)
        .child(bar(summary))
        .child(legend(summary))
        .into()
}

pub fn status_word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
    }
}

/// To the minute, the same wherever it is read.
pub fn time(at: Timestamp) -> Html {
    let shown = at.strftime("%Y-%m-%d %H:%M UTC").to_string();
    el("time").attr("datetime", at).text(shown).into()
}

fn length(results: &Results) -> Option<String> {
    results.seconds().map(prose::duration)
}

/// What the trials have cost, where they say so.
fn spent(results: &Results) -> Option<String> {
    crate::metrics::dollars(&results.summary.spent).map(|cost| format!("{cost} spent"))
}

fn counts(summary: &Summary) -> [(Status, usize); 6] {
    [
        (Status::Passed, summary.passed),
        (Status::Partial, summary.partial),
        (Status::Failed, summary.failed),
        (Status::Error, summary.errors),
        (Status::Interrupted, summary.interrupted),
        (Status::Pending, summary.pending),
    ]
}

/// One bar, a part for each ending.
fn bar(summary: &Summary) -> Html {
    let total = summary.trials.max(1) as f64;
    let mut at = 0.0;
    let mut parts = Vec::new();
    for (status, number) in counts(summary)
        .into_iter()
        .filter(|(_, number)| *number > 0)
    {
        let width = number as f64 / total * 1000.0;
        parts.push(
            el("rect")
                .class(format!("fill-{}", status.word()))
                .attr("x", format!("{at:.1}"))
                .attr("y", 0)
                .attr("width", format!("{width:.1}"))
                .attr("height", 10),
        );
        at += width;
    }
    el("svg")
        .class("bar")
        .attr("viewBox", "0 0 1000 10")
        .attr("preserveAspectRatio", "none")
        .attr("aria-hidden", "true")
        .children(parts)
        .into()
}

/// Counts in words; each leads to its trials.
fn legend(summary: &Summary) -> Html {
    let item = |(status, number): (Status, usize)| {
        let link = el("a")
            .attr("href", format!("#trials?status={}", status.word()))
            .child(el("span").class(format!("dot fill-{}", status.word())))
            .child(el("b").text(number.to_string()))
            .text(format!(" {}", status.word()));
        el("li").child(link)
    };
    let present = counts(summary)
        .into_iter()
        .filter(|(_, number)| *number > 0);
    el("ul").class("legend").children(present.map(item)).into()
}
