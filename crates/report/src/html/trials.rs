//! The list of trials, and the fields that narrow it.

use terca_core::analysis::summary::wording;
use terca_core::run::event::Phase;
use terca_core::run::outcome::Status;
use terca_core::run::state::{RunState, Trial};
use terca_core::text::prose;
use terca_core::transcript::trial_files::shortened;

use super::markup::{Element, Html, el};
use super::matrix::Matrix;

const STATUSES: [Status; 6] = [
    Status::Passed,
    Status::Partial,
    Status::Failed,
    Status::Error,
    Status::Interrupted,
    Status::Pending,
];
/// Longer messages are for the trial's own page.
const LONGEST_MESSAGE: usize = 240;

pub fn trials(state: &RunState, matrix: &Matrix<'_>) -> Html {
    let titles = [
        "Trial",
        "Eval",
        "Variant",
        "Rep.",
        "Status",
        "Score",
        "Time",
        "Tokens",
        "Cost",
        "What happened",
    ];
    let head = el("tr").children(titles.map(|title| el("th").attr("scope", "col").text(title)));
    let rows = state.trials().iter().map(|trial| row(trial, matrix));
    let table = el("table")
        .class("trials")
        .child(el("caption").class("unseen").text("Trials"))
        .child(el("thead").child(head))
        .child(el("tbody").attr("id", "rows").children(rows));
    el("section")
        .attr("id", "trials")
        .attr("aria-labelledby", "trials-title")
        .child(el("h2").attr("id", "trials-title").text("Trials"))
        .child(filters(matrix))
        .child(
            el("p")
                .class("quiet")
                .attr("id", "shown")
                .attr("role", "status")
                .attr("aria-live", "polite"),
        )
        .child(table)
        .into()
}

fn filters(matrix: &Matrix<'_>) -> Html {
    let option = |value: String, text: &str| el("option").attr("value", value).text(text);
    let statuses = STATUSES.map(|status| option(status.word().to_owned(), status.word()));
    let evals = matrix
        .evals
        .iter()
        .enumerate()
        .map(|(number, eval)| option(number.to_string(), eval));
    let variants = matrix
        .variants
        .iter()
        .enumerate()
        .map(|(number, (environment, experiment))| {
            option(
                number.to_string(),
                &matrix.variant_name(environment, experiment),
            )
        });
    let search = el("input")
        .attr("type", "search")
        .attr("id", "filter-text")
        .attr("placeholder", "words ( / )")
        .attr("autocomplete", "off");
    el("form")
        .class("filters")
        .attr("role", "search")
        .attr("aria-label", "Filter trials")
        .child(choice("filter-status", "Status", "every status", statuses))
        .child(choice("filter-eval", "Eval", "every eval", evals))
        .child(choice(
            "filter-variant",
            "Variant",
            "every variant",
            variants,
        ))
        .child(el("label").text("Text ").child(search))
        .child(el("button").attr("type", "reset").text("Clear"))
        .into()
}

fn choice(
    id: &'static str,
    name: &str,
    all: &str,
    options: impl IntoIterator<Item = Element>,
) -> Html {
    let every = el("option").attr("value", "").text(all);
    let select = el("select").attr("id", id).child(every).children(options);
    el("label").text(format!("{name} ")).child(select).into()
}

fn row(trial: &Trial, matrix: &Matrix<'_>) -> Html {
    let (head, report) = (&trial.head, &trial.report);
    let status = status(trial);
    let known = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let number = |text: String, class: &'static str| el("td").class(class).text(text);
    let stats = &report.stats;
    let link = el("a")
        .attr("href", format!("#trial-{}", head.id))
        .text(format!("#{}", head.id));
    let name = el("a")
        .attr("href", format!("#trial-{}", head.id))
        .attr("tabindex", -1)
        .text(&head.eval);
    el("tr")
        .attr("id", format!("row-{}", head.id))
        .flag("data-part", true)
        .attr("data-status", report.status.word())
        .attr("data-eval", matrix.eval_number(&head.eval))
        .attr(
            "data-variant",
            matrix.variant_number(&head.environment, &head.experiment),
        )
        .child(el("td").class("id").child(link))
        .child(el("th").attr("scope", "row").child(name))
        .child(
            el("td")
                .class("variant")
                .text(matrix.variant_name(&head.environment, &head.experiment)),
        )
        .child(number(head.repetition.to_string(), "num wide"))
        .child(el("td").class("status").child(status))
        .child(number(known(report.score.map(wording::score)), "num score"))
        .child(number(
            known(stats.duration_seconds.map(prose::duration)),
            "num",
        ))
        .child(number(
            known(stats.usage.tokens().map(prose::compact)),
            "num wide",
        ))
        .child(number(
            known(stats.usage.cost_usd.map(prose::dollars)),
            "num wide",
        ))
        .child(
            el("td")
                .class("message")
                .text(shortened(&message(trial), LONGEST_MESSAGE)),
        )
        .into()
}

/// How it ended, or what is being done.
pub fn status(trial: &Trial) -> Html {
    let word = trial.report.status.word();
    match &trial.live {
        Some(live) => el("span")
            .class("pill running")
            .text(doing(live.phase))
            .into(),
        None => el("span").class(format!("pill {word}")).text(word).into(),
    }
}

fn doing(phase: Phase) -> &'static str {
    match phase {
        Phase::Agent => "agent at work",
        other => other.word(),
    }
}

/// The one line that explains it.
fn message(trial: &Trial) -> String {
    let report = &trial.report;
    if let Some(error) = &report.error {
        return format!("{}: {}", error.kind.word(), error.message);
    }
    let timed_out = if report.timed_out { "timed out; " } else { "" };
    let loss = report
        .tests
        .first_loss()
        .map(|(test, grade)| format!("{test}: {}", grade.message));
    let note = || report.notes.first().cloned();
    format!("{timed_out}{}", loss.or_else(note).unwrap_or_default())
}
