//! The list of trials, and the fields that narrow it.

use maud::{Markup, html};
use terca_core::run::outcome::Status;
use terca_core::run::state::RunState;
use terca_core::text::prose;

use super::causes::causes_table;
use super::heat_map::Matrix;
use super::rows::{Prompts, row, worst_first};

pub use super::rows::status;

const STATUSES: [Status; 6] = [
    Status::Passed,
    Status::Partial,
    Status::Failed,
    Status::Error,
    Status::Interrupted,
    Status::Pending,
];
/// The columns: the name by which an address sorts, the title, and whether the first click puts the largest first.
const COLUMNS: [(&str, &str, bool); 10] = [
    ("id", "Trial", false),
    ("eval", "Eval", false),
    ("variant", "Variant", false),
    ("repetition", "Rep.", false),
    ("rank", "Status", false),
    ("score", "Score", true),
    ("time", "Time", true),
    ("tokens", "Tokens", true),
    ("cost", "Cost", true),
    ("outcome", "Outcome", false),
];
/// The fields whose values the script finds in the rows.
const FOUND: [(&str, &str, &str); 4] = [
    ("test", "Failing test", "every test"),
    ("error", "Error", "every error"),
    ("tag", "Tag", "every tag"),
    ("tool", "Tool", "every tool"),
];
/// The rows that are in the page itself. The script puts others in their place, without it these are all.
const MOST_ROWS: usize = 200;

/// Returns the list. The script shows the rows that are in sight.
pub fn trials(state: &RunState, matrix: &Matrix<'_>, prompts: Option<&Prompts>) -> Markup {
    let remarked = |id| prompts.and_then(|prompts| prompts.tags_of_remark(id));
    let all = state.trials().len();
    html! {
        section #trials aria-labelledby="trials-title" {
            h2 #trials-title { "Trials" }
            div #part-causes data-part { (causes_table(state, matrix)) }
            (search())
            (filters(matrix))
            p #shown .quiet role="status" aria-live="polite" {}
            p #picked .callout hidden {}
            noscript {
                p.callout {
                    "Without JavaScript, trials cannot be opened, sorted or filtered."
                    @if all > MOST_ROWS {
                        " These are the first " (MOST_ROWS) " of " (prose::count(all, "trial")) "."
                    }
                }
            }
            table.trials.list aria-rowcount=(all + 1) {
                caption.unseen { "Trials" }
                (head())
                tbody #above hidden { tr { td {} } }
                tbody #rows {
                    @for trial in worst_first(state).into_iter().take(MOST_ROWS) {
                        (row(trial, matrix, remarked(trial.head.id)))
                    }
                }
                tbody #below hidden { tr { td {} } }
            }
        }
    }
}

fn head() -> Markup {
    html! {
        thead {
            tr aria-rowindex="1" {
                td.pick {}
                @for (name, title, is_largest_first) in COLUMNS {
                    th scope="col" class={ "col-" (name) } {
                        button type="button" data-sort=(name) data-largest[is_largest_first] { (title) }
                    }
                }
            }
        }
    }
}

/// Returns the field for words anywhere in what agents and tests wrote.
fn search() -> Markup {
    html! {
        form #search .search role="search" aria-label="Search all trials" {
            label {
                "Search transcripts, diffs and logs "
                input #search-words type="search" placeholder="words" autocomplete="off" maxlength="200";
            }
            button type="submit" { "Search" }
            button #search-stop type="button" hidden { "Stop" }
            p #search-progress .quiet role="status" aria-live="polite" {}
            ol #search-results .found {}
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
        form #filters .filters role="search" aria-label="Filter trials" {
            label {
                "Status "
                select #filter-status {
                    option value="" { "every status" }
                    @for status in STATUSES {
                        option value=(status.as_str()) { (status.as_str()) }
                    }
                    option value="running" { "running" }
                    option value="timed-out" { "timed out" }
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
            @for (name, title, every) in FOUND {
                label hidden {
                    (title) " "
                    select id={ "filter-" (name) } { option value="" { (every) } }
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
