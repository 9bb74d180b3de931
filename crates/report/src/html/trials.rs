//! The list of trials, and the fields that narrow it.

use maud::{Markup, html};
use terca_core::analysis::summary::wording;
use terca_core::run::event::Phase;
use terca_core::run::outcome::Status;
use terca_core::run::state::{RunState, Trial};
use terca_core::text::excerpt::without_middle;
use terca_core::text::prose;

use super::foreign::clean;
use super::matrix::Matrix;
use super::pieces::{column_titles, or_dash, pill};
use crate::outcome::first_loss;

const STATUSES: [Status; 6] = [
    Status::Passed,
    Status::Partial,
    Status::Failed,
    Status::Error,
    Status::Interrupted,
    Status::Pending,
];
const TITLES: [&str; 10] = [
    "Trial", "Eval", "Variant", "Rep.", "Status", "Score", "Time", "Tokens", "Cost", "Outcome",
];
/// Longer messages are for the trial's own page.
const LONGEST_MESSAGE: usize = 240;

/// Returns the list. The script filters it by the `data-` attributes of its rows.
pub fn trials(state: &RunState, matrix: &Matrix<'_>) -> Markup {
    html! {
        section #trials aria-labelledby="trials-title" {
            h2 #trials-title { "Trials" }
            (filters(matrix))
            p #shown .quiet role="status" aria-live="polite" {}
            table.trials {
                caption.unseen { "Trials" }
                thead { (column_titles(&TITLES)) }
                tbody #rows { @for trial in state.trials() { (row(trial, matrix)) } }
            }
        }
    }
}

fn filters(matrix: &Matrix<'_>) -> Markup {
    let variants: Vec<String> = matrix
        .variants
        .iter()
        .map(|(environment, experiment)| matrix.variant_name(environment, experiment))
        .collect();
    html! {
        form.filters role="search" aria-label="Filter trials" {
            label {
                "Status "
                select #filter-status {
                    option value="" { "every status" }
                    @for status in STATUSES {
                        option value=(status.as_str()) { (status.as_str()) }
                    }
                }
            }
            label {
                "Eval "
                select #filter-eval {
                    option value="" { "every eval" }
                    (numbered_options(&matrix.evals))
                }
            }
            label {
                "Variant "
                select #filter-variant {
                    option value="" { "every variant" }
                    (numbered_options(&variants))
                }
            }
            label {
                "Text "
                input #filter-text type="search" placeholder="words ( / )" autocomplete="off";
            }
            button type="reset" { "Clear" }
        }
    }
}

fn numbered_options(names: &[impl AsRef<str>]) -> Markup {
    html! {
        @for (number, name) in names.iter().enumerate() {
            option value=(number) { (name.as_ref()) }
        }
    }
}

fn row(trial: &Trial, matrix: &Matrix<'_>) -> Markup {
    let head = &trial.head;
    let report = &trial.report;
    let usage = &report.stats.usage;
    let variant = matrix.variant_number(&head.environment, &head.experiment);
    html! {
        tr id={ "row-" (head.id) } data-part data-status=(report.status.as_str())
            data-eval=(matrix.eval_number(&head.eval)) data-variant=(variant) {
            td.id { a href={ "#trial-" (head.id) } { "#" (head.id) } }
            th scope="row" { a href={ "#trial-" (head.id) } tabindex="-1" { (head.eval) } }
            td.variant { (matrix.variant_name(&head.environment, &head.experiment)) }
            td.num.wide { (head.repetition) }
            td.status { (status(trial)) }
            td.num.score { (or_dash(report.score.map(wording::score))) }
            td.num { (or_dash(report.stats.duration_seconds.map(prose::duration))) }
            td.num.wide { (or_dash(usage.tokens().map(prose::compact))) }
            td.num.wide { (or_dash(usage.cost_usd.map(prose::dollars))) }
            td.message { (clean(&without_middle(&message(trial), LONGEST_MESSAGE))) }
        }
    }
}

/// Returns the status of a trial, or its phase while it runs.
pub fn status(trial: &Trial) -> Markup {
    let word = trial.report.status.as_str();
    match &trial.live {
        None => pill(word, word),
        Some(live) => match live.phase {
            Phase::Agent => pill("running", "agent at work"),
            other => pill("running", other.as_str()),
        },
    }
}

/// Returns the one line that explains how it ended.
fn message(trial: &Trial) -> String {
    let report = &trial.report;
    if let Some(error) = &report.error {
        return format!("{}: {}", error.kind.as_str(), error.message);
    }
    let timed_out = if report.timed_out { "timed out; " } else { "" };
    let note = || report.notes.first().cloned();
    let reason = first_loss(report).or_else(note).unwrap_or_default();
    format!("{timed_out}{reason}")
}
