//! The runs so far, and the choice of two to compare.

use maud::{Markup, html};
use terca_core::run::event::RunStatus;
use terca_core::text::prose;

use super::assets::Kind;
use super::pieces::{column_titles, navigation, run_status, time};
use super::shell::document;
use crate::text::runs::{ListedStatus, RunRow};

const TITLES: [&str; 9] = [
    "",
    "Run",
    "Suite",
    "Started",
    "Status",
    "Trials",
    "Passed",
    "Not passed",
    "Errors",
];

/// Returns the page of all runs, the newest first.
pub fn runs_page(rows: &[RunRow]) -> String {
    let body = html! {
        (navigation(&html! {}))
        main #content {
            header.masthead {
                h1 { "Runs" }
                p.facts { span { (prose::count(rows.len(), "run")) } }
            }
            p.filters {
                a #compare .button href="#" aria-disabled="true" { "Compare two runs" }
                span.quiet { "Choose two runs in the first column." }
            }
            table.trials.runs {
                caption.unseen { "Runs" }
                thead { (column_titles(&TITLES)) }
                tbody { @for run in rows.iter().rev() { (row(run)) } }
            }
        }
    };
    document(Kind::Served, "Runs", &body)
}

fn row(row: &RunRow) -> Markup {
    html! {
        tr {
            td.id {
                @if row.status.is_some() {
                    input type="checkbox" name="run" value=(row.run)
                        aria-label={ "Compare " (row.run) };
                }
            }
            th scope="row" { a href={ "runs/" (row.run) "/" } { (row.run) } }
            td { (row.suite) }
            td { @if let Some(at) = row.started_at { (time(at)) } }
            td.status {
                @match row.status {
                    Some(ListedStatus::Running) => (run_status(RunStatus::Running)),
                    Some(ListedStatus::Complete) => (run_status(RunStatus::Complete)),
                    Some(ListedStatus::Interrupted) => (run_status(RunStatus::Interrupted)),
                    Some(ListedStatus::Incomplete) => span.pill { "incomplete" },
                    None => {
                        span.pill.error title=(row.note.as_deref().unwrap_or_default()) {
                            "unreadable"
                        }
                    }
                }
            }
            @for number in [row.trials, row.passed, row.partial + row.failed, row.errors] {
                td.num { (number) }
            }
        }
    }
}
