//! The top of a run's page: what ran, when, who ran, and the outcomes in one bar.

use maud::{Markup, html};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::Summary;
use terca_core::analysis::validation::is_validation;
use terca_core::run::outcome::Status;
use terca_core::text::prose;

use super::agents::agents;
use super::descriptions::LONGEST_DESCRIPTION;
use super::fit::fit_text;
use super::foreign::clean;
use super::pieces::{run_status, time};
use super::plot::stacked_bar;
use crate::metrics;

/// Returns the masthead of a run.
pub fn masthead(results: &Results) -> Markup {
    let counts = counts(&results.summary);
    html! {
        header.masthead {
            h1 { (results.suite) }
            @if let Some(about) = &results.descriptions.suite {
                p.about { (clean(&fit_text(about, LONGEST_DESCRIPTION))) }
            }
            p.facts {
                (run_status(results.status))
                span { (results.run) }
                @if let Some(at) = results.started_at { (time(at)) }
                @if let Some(length) = length(results) { span { (length) } }
                span { (prose::count(results.summary.trials, "trial")) }
                @for fact in facts(results) { span { (fact) } }
            }
            (agents(results))
            // What the agents of a validation do not pass is no failure.
            @if !is_validation(results) {
                (bar(&counts))
                (legend(&counts))
            }
        }
    }
}

fn length(results: &Results) -> Option<String> {
    results.seconds().map(prose::duration)
}

/// Returns what was spent, in the words of the terminal, and whether the run was graded again.
fn facts(results: &Results) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(metrics::spent_on(results).map(|spent| format!("spent: {spent}")));
    if results.grading > 1 {
        facts.push(format!("graded again: this is grading {}", results.grading));
    }
    facts
}

/// Returns the statuses that trials have, with their numbers.
fn counts(summary: &Summary) -> Vec<(Status, usize)> {
    let all = [
        (Status::Passed, summary.passed),
        (Status::Partial, summary.partial),
        (Status::Failed, summary.failed),
        (Status::Error, summary.errors),
        (Status::Interrupted, summary.interrupted),
        (Status::Pending, summary.pending),
    ];
    all.into_iter().filter(|(_, number)| *number > 0).collect()
}

fn bar(counts: &[(Status, usize)]) -> Markup {
    let sizes: Vec<(String, f64)> = counts
        .iter()
        .map(|(status, number)| (format!("fill-{}", status.as_str()), *number as f64))
        .collect();
    stacked_bar(&sizes)
}

/// Returns the counts in words. Each links to its trials.
fn legend(counts: &[(Status, usize)]) -> Markup {
    html! {
        ul.legend {
            @for (status, number) in counts {
                li {
                    a href={ "#trials?status=" (status.as_str()) } {
                        span class={ "dot fill-" (status.as_str()) } {}
                        b { (number) }
                        " " (status.as_str())
                    }
                }
            }
        }
    }
}
