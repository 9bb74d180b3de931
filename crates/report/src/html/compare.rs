//! Two runs side by side: each eval and variant in both, and how its pass rate changed.
//!
//! No verdict is given here. Runs of different days differ in more than one thing; what is certain is what each of
//! them saw, so both figures stand with their intervals.

use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::{percent, points};
use terca_core::analysis::summary::{CellSummary, Figures};

use super::assets::Kind;
use super::markup::{Html, el};
use super::masthead::{status_word, time};
use super::shell::document;

pub fn compare_page(first: &Results, second: &Results) -> String {
    let nav = el("nav")
        .class("top")
        .attr("aria-label", "Pages")
        .child(el("b").class("brand").text("terca"))
        .child(el("a").attr("href", "../../").text("All runs"));
    let heads = el("div")
        .class("cards pair")
        .child(about("A", first))
        .child(about("B", second));
    let titles = ["Eval", "Variant", "A", "B", "B − A"];
    let head = el("tr").children(titles.map(|title| el("th").attr("scope", "col").text(title)));
    let table = el("table")
        .class("trials compared")
        .child(
            el("caption")
                .class("unseen")
                .text("Pass rates in both runs"),
        )
        .child(el("thead").child(head))
        .child(el("tbody").children(rows(first, second)));
    let remark = "Both with 95 % intervals. Runs may differ in more than what was meant to differ (days, versions, models), so that no verdict is given between them: put both into one run as experiments to get one.";
    let main = el("main")
        .attr("id", "content")
        .child(
            el("header")
                .class("masthead")
                .child(el("h1").text("Two runs")),
        )
        .child(heads)
        .child(el("p").class("quiet").text(remark))
        .child(table);
    let title = format!("{} and {}", first.run, second.run);
    document(
        Kind::Served,
        &title,
        [Html::from(nav), main.into()].into_iter().collect(),
    )
}

fn about(letter: &str, results: &Results) -> Html {
    let summary = &results.summary;
    let link = el("a")
        .attr("href", format!("../../runs/{}/", results.run))
        .text(&results.run);
    let counts = format!(
        "{} of {} trials passed, {} ended in errors",
        summary.passed, summary.trials, summary.errors
    );
    el("section")
        .class("card")
        .child(el("h2").text(format!("{letter}: ")).child(link))
        .child(
            el("p")
                .class("facts")
                .child(
                    el("span")
                        .class(format!("pill {}", status_word(results.status)))
                        .text(status_word(results.status)),
                )
                .child(el("span").text(&results.suite))
                .child(results.started_at.map(time)),
        )
        .child(el("p").text(counts))
        .into()
}

/// Variants over all evals first, then the cells; what only one of them has stands with a dash.
fn rows(first: &Results, second: &Results) -> Vec<Html> {
    let variants = |results: &Results| -> Vec<CellSummary> {
        let of = |variant: &terca_core::analysis::summary::VariantSummary| CellSummary {
            eval: String::new(),
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            figures: variant.figures.clone(),
        };
        results.summary.variants.iter().map(of).collect()
    };
    let all = |results: &Results| [variants(results), results.summary.cells.clone()].concat();
    let (left, right) = (all(first), all(second));
    let key = |cell: &CellSummary| {
        (
            cell.eval.clone(),
            cell.environment.clone(),
            cell.experiment.clone(),
        )
    };
    let only_right = right
        .iter()
        .filter(|cell| !left.iter().any(|other| key(other) == key(cell)));
    left.iter()
        .chain(only_right)
        .map(|cell| {
            let of = |cells: &[CellSummary]| {
                cells
                    .iter()
                    .find(|other| key(other) == key(cell))
                    .map(|cell| cell.figures.clone())
            };
            row(cell, of(&left).as_ref(), of(&right).as_ref())
        })
        .collect()
}

fn row(cell: &CellSummary, first: Option<&Figures>, second: Option<&Figures>) -> Html {
    let rates = first
        .and_then(|figures| figures.pass_rate)
        .zip(second.and_then(|figures| figures.pass_rate));
    let change = rates.map(|(one, other)| other - one);
    let tone = match change {
        Some(change) if change > 0.0 => "up",
        Some(change) if change < 0.0 => "down",
        _ => "quiet",
    };
    let eval = if cell.eval.is_empty() {
        "All evals"
    } else {
        &cell.eval
    };
    el("tr")
        .flag("data-total", cell.eval.is_empty())
        .child(el("th").attr("scope", "row").text(eval))
        .child(el("td").text(format!("{} · {}", cell.environment, cell.experiment)))
        .child(el("td").class("num").child(figures(first)))
        .child(el("td").class("num").child(figures(second)))
        .child(
            el("td")
                .class(format!("num {tone}"))
                .text(change.map_or_else(|| "–".to_owned(), points)),
        )
        .into()
}

fn figures(figures: Option<&Figures>) -> Html {
    let Some((figures, rate)) = figures.and_then(|figures| Some((figures, figures.pass_rate?)))
    else {
        return Html::text("–");
    };
    let interval = figures
        .pass_rate_interval
        .map(|interval| format!(", {} … {}", percent(interval.low), percent(interval.high)));
    let detail = format!(
        "{}/{}{}",
        figures.passed,
        figures.judged,
        interval.unwrap_or_default()
    );
    [
        el("b").text(percent(rate)).into(),
        el("small").text(detail).into(),
    ]
    .into_iter()
    .collect()
}
