//! The runs so far, and the choice of two to be compared.

use terca_core::text::prose;

use super::assets::Kind;
use super::markup::{Html, el};
use super::masthead::{status_word, time};
use super::shell::document;
use crate::text::runs::RunRow;

/// The newest first.
pub fn runs_page(rows: &[RunRow]) -> String {
    let titles = [
        "", "Run", "Suite", "Started", "Status", "Trials", "Passed", "Failed", "Errors",
    ];
    let head = el("tr").children(titles.map(|title| el("th").attr("scope", "col").text(title)));
    let table = el("table")
        .class("trials runs")
        .child(el("caption").class("unseen").text("Runs"))
        .child(el("thead").child(head))
        .child(el("tbody").children(rows.iter().rev().map(row)));
    let compare = el("p")
        .class("filters")
        .child(
            el("a")
                .class("button")
                .attr("id", "compare")
                .attr("href", "#")
                .attr("aria-disabled", "true")
                .text("Compare two runs"),
        )
        .child(
            el("span")
                .class("quiet")
                .text("Choose two of them in the first column."),
        );
    let nav = el("nav")
        .class("top")
        .attr("aria-label", "Pages")
        .child(el("b").class("brand").text("terca"));
    let main = el("main")
        .attr("id", "content")
        .child(
            el("header")
                .class("masthead")
                .child(el("h1").text("Runs"))
                .child(
                    el("p")
                        .class("facts")
                        .child(el("span").text(prose::count(rows.len(), "run"))),
                ),
        )
        .child(compare)
        .child(table);
    document(
        Kind::Served,
        "Runs",
        [Html::from(nav), main.into()].into_iter().collect(),
    )
}

fn row(row: &RunRow) -> Html {
    let box_ = el("input")
        .attr("type", "checkbox")
        .attr("name", "run")
        .attr("value", &row.run)
        .attr("aria-label", format!("Compare {}", row.run));
    let link = el("a")
        .attr("href", format!("runs/{}/", row.run))
        .text(&row.run);
    let number = |number: usize| el("td").class("num").text(number.to_string());
    let status = match row.status {
        Some(status) => el("span")
            .class(format!("pill {}", status_word(status)))
            .text(status_word(status)),
        None => el("span")
            .class("pill error")
            .attr("title", row.note.as_deref().unwrap_or_default())
            .text("unreadable"),
    };
    el("tr")
        .child(el("td").class("id").child(row.status.map(|_| box_)))
        .child(el("th").attr("scope", "row").child(link))
        .child(el("td").text(&row.suite))
        .child(el("td").child(row.started_at.map(time)))
        .child(el("td").class("status").child(status))
        .child(number(row.trials))
        .child(number(row.passed))
        .child(number(row.failed))
        .child(number(row.errors))
        .into()
}
