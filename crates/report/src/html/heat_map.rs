//! Evals × variants, a colour for each pass rate. The figures stand in the cells, for those who see no colours.

use terca_core::analysis::summary::wording;
use terca_core::analysis::summary::wording::percent;
use terca_core::analysis::summary::{Figures, Summary};
use terca_core::text::prose;

use super::markup::{Html, el};
use super::matrix::Matrix;

pub fn heat_map(summary: &Summary, matrix: &Matrix<'_>) -> Html {
    let names = matrix.variants.iter().map(|(environment, experiment)| {
        el("th")
            .attr("scope", "col")
            .text(matrix.variant_name(environment, experiment))
    });
    let head = el("tr")
        .child(el("th").attr("scope", "col").text("Eval"))
        .children(names);
    let rows = matrix
        .evals
        .iter()
        .enumerate()
        .map(|(number, eval)| row(summary, matrix, number, eval));
    let table = el("table")
        .class("heat")
        .child(
            el("caption")
                .class("unseen")
                .text("Pass rates by eval and variant"),
        )
        .child(el("thead").child(head))
        .child(el("tbody").children(rows))
        .child(el("tfoot").child(totals(summary)));
    el("section")
        .attr("aria-labelledby", "heat-title")
        .child(el("h2").attr("id", "heat-title").text("Evals × variants"))
        .child(
            el("div")
                .class("scroll")
                .attr("tabindex", 0)
                .attr("role", "region")
                .attr("aria-label", "Heat map")
                .child(table),
        )
        .into()
}

fn row(summary: &Summary, matrix: &Matrix<'_>, number: usize, eval: &str) -> Html {
    let cells = matrix.variants.iter().enumerate().map(|(variant, names)| {
        match matrix.cell(summary, eval, *names) {
            Some(cell) => {
                let link = el("a")
                    .attr("href", format!("#trials?eval={number}&variant={variant}"))
                    .children(figures(&cell.figures));
                el("td").class(class(&cell.figures)).child(link)
            }
            None => el("td").class("empty").text("–"),
        }
    });
    el("tr")
        .child(el("th").attr("scope", "row").text(eval))
        .children(cells)
        .into()
}

fn totals(summary: &Summary) -> Html {
    let cells = summary.variants.iter().map(|variant| {
        el("td")
            .class(class(&variant.figures))
            .child(el("span").children(figures(&variant.figures)))
    });
    el("tr")
        .child(el("th").attr("scope", "row").text("All evals"))
        .children(cells)
        .into()
}

/// `3/4`, and below it what the colour does not tell.
fn figures(figures: &Figures) -> Vec<Html> {
    if figures.judged == 0 {
        let text = if figures.errors > 0 {
            prose::count(figures.errors, "error")
        } else {
            "…".to_owned()
        };
        return vec![el("b").text(text).into()];
    }
    let rate = figures.pass_rate.map(percent).unwrap_or_default();
    let errors = (figures.errors > 0).then(|| {
        el("small")
            .class("trouble")
            .text(format!("+{}", prose::count(figures.errors, "error")))
    });
    let score = figures.mean_score.filter(|score| {
        figures
            .pass_rate
            .is_none_or(|rate| (rate - score).abs() > 0.005)
    });
    let score = score.map(|score| el("small").text(format!("score {}", wording::score(score))));
    let counts = format!("{}/{}", figures.passed, figures.judged);
    vec![
        el("b").text(rate).into(),
        el("small").text(counts).into(),
        score.into(),
        errors.into(),
    ]
}

/// Eleven steps from all failed to all passed.
fn class(figures: &Figures) -> String {
    match figures.pass_rate {
        Some(rate) => format!("heat-{:.0}", (rate * 10.0).round()),
        None if figures.errors > 0 => "heat-error".to_owned(),
        None => "empty".to_owned(),
    }
}
