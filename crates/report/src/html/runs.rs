//! The runs so far, the trend of their suite, and the choice of two to compare.

use maud::{Markup, html};
use terca_core::analysis::summary::wording::percent;
use terca_core::run::event::RunStatus;
use terca_core::run::run_kind::RunKind;
use terca_core::text::prose;

use super::shell::{Kind, document};
use super::text::{clean, navigation, or_dash, run_status, time};
use super::trend::{ListedRun, trend};
use crate::metrics;
use crate::text::runs::{ListedStatus, RunRow};

const TITLES: [&str; 6] = ["Run", "Suite", "Agents", "Started", "Status", "Pass rates"];
const NUMBERS: [&str; 3] = ["Trials", "Not passed", "Cost"];
/// So many rates are shown of a run.
const MOST_RATES: usize = 6;

/// Returns the page of all runs, the newest first.
pub fn runs_page(runs: &[ListedRun]) -> String {
    let body = html! {
        (navigation(&html! { span.space {} }))
        main #content {
            header.masthead {
                h1 { "Runs" }
                p.facts { span { (prose::count(runs.len(), "run")) } }
            }
            p.filters.scripted {
                a #compare .button href="#" aria-disabled="true" { "Compare two runs" }
                span.quiet { "Choose two runs in the first column." }
            }
            div.scroll tabindex="0" role="region" aria-label="Runs" {
                table.runs {
                    caption.unseen { "Runs" }
                    thead {
                        tr {
                            th scope="col" { span.unseen { "Compare" } }
                            @for title in TITLES { th scope="col" { (title) } }
                            @for title in NUMBERS { th.num scope="col" { (title) } }
                        }
                    }
                    tbody { @for run in runs.iter().rev() { (row(run)) } }
                }
            }
            (trend(runs))
        }
    };
    document(Kind::Served, "Runs", &body)
}

fn row(run: &ListedRun) -> Markup {
    let row = &run.row;
    html! {
        tr {
            td.id {
                @if row.status.is_some() {
                    input type="checkbox" name="run" value=(row.run)
                        aria-label={ "Compare " (row.run) };
                }
            }
            th scope="row" { a href={ "runs/" (row.run) "/" } { (row.run) } }
            td data-title="suite" {
                (row.suite)
                @if let Some(commit) = &run.commit {
                    small title={ "The suite was at commit " (clean(commit)) } {
                        (clean(&commit.chars().take(8).collect::<String>()))
                    }
                }
            }
            td data-title="agents" { (agents(run)) }
            td data-title="started" { @if let Some(at) = row.started_at { (time(at)) } }
            td.status data-title="status" { (status(row)) }
            td data-title="pass rates" { (rates(run)) }
            td.num data-title="trials" {
                (row.trials)
                @if row.errors > 0 { small.trouble { "+" (prose::count(row.errors, "error")) } }
            }
            td.num data-title="not passed" { (row.partial + row.failed) }
            td.num data-title="cost" { (or_dash(metrics::dollars(&run.spent))) }
        }
    }
}

fn agents(run: &ListedRun) -> Markup {
    match run.row.kind {
        Some(RunKind::Validate) => html! { span.quiet { "validate" } },
        _ => html! {
            @for (number, agent) in run.row.agents.iter().enumerate() {
                @if number > 0 { ", " }
                (agent)
            }
            @for model in &run.models { small { (model) } }
        },
    }
}

fn status(row: &RunRow) -> Markup {
    match row.status {
        Some(ListedStatus::Running) => run_status(RunStatus::Running),
        Some(ListedStatus::Complete) => run_status(RunStatus::Complete),
        Some(ListedStatus::Interrupted) => run_status(RunStatus::Interrupted),
        Some(ListedStatus::Incomplete) => html! { span.pill { "incomplete" } },
        None => html! {
            span.pill.error { "unreadable" }
            @if let Some(note) = &row.note { small { (note) } }
        },
    }
}

/// Returns the pass rate of each variant. Those of a validation are no rates of agents.
fn rates(run: &ListedRun) -> Markup {
    if run.row.kind == Some(RunKind::Validate) {
        return html! { span.quiet { "proves evals" } };
    }
    html! {
        @for variant in run.variants.iter().take(MOST_RATES) {
            div.rate {
                b { (or_dash(variant.figures.pass_rate.map(percent))) }
                " "
                span.quiet { (variant.environment) " · " (variant.experiment) }
            }
        }
        @if run.variants.len() > MOST_RATES {
            small { "and " (run.variants.len() - MOST_RATES) " more" }
        }
    }
}
