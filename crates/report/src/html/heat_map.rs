//! Evals × variants, with a colour for each pass rate. The figures are in the cells too, for those who see no colours.

use maud::{Markup, html};
use terca_core::analysis::summary::wording;
use terca_core::analysis::summary::wording::percent;
use terca_core::analysis::summary::{Figures, Summary};
use terca_core::text::prose;

use super::matrix::Matrix;
use super::pieces::column_titles;
use crate::metrics::reliability;

/// Returns the table of pass rates.
pub fn heat_map(summary: &Summary, matrix: &Matrix<'_>) -> Markup {
    let variants: Vec<String> = matrix
        .variants
        .iter()
        .map(|(environment, experiment)| matrix.variant_name(environment, experiment))
        .collect();
    let mut titles = vec!["Eval"];
    titles.extend(variants.iter().map(String::as_str));
    html! {
        section aria-labelledby="heat-title" {
            h2 #heat-title { "Evals × variants" }
            div.scroll tabindex="0" role="region" aria-label="Heat map" {
                table.heat {
                    caption.unseen { "Pass rates by eval and variant" }
                    thead { (column_titles(&titles)) }
                    tbody {
                        @for (number, eval) in matrix.evals.iter().enumerate() {
                            (row(summary, matrix, number, eval))
                        }
                    }
                    tfoot { (totals(summary)) }
                }
            }
        }
    }
}

fn row(summary: &Summary, matrix: &Matrix<'_>, number: usize, eval: &str) -> Markup {
    html! {
        tr {
            th scope="row" { (eval) }
            @for (variant, names) in matrix.variants.iter().enumerate() {
                @if let Some(cell) = matrix.cell(summary, eval, *names) {
                    td class=(class(&cell.figures)) {
                        a href={ "#trials?eval=" (number) "&variant=" (variant) } {
                            (figures(&cell.figures))
                        }
                    }
                } @else {
                    td.empty { "–" }
                }
            }
        }
    }
}

fn totals(summary: &Summary) -> Markup {
    html! {
        tr {
            th scope="row" { "All evals" }
            @for variant in &summary.variants {
                td class=(class(&variant.figures)) { span { (figures(&variant.figures)) } }
            }
        }
        @for (title, shares) in reliability(summary.variants.iter().map(|variant| &variant.figures)) {
            tr {
                th scope="row" { (title) }
                @for share in shares { td { span { (percent(share)) } } }
            }
        }
    }
}

/// Returns the pass rate, and below it what the colour does not show.
fn figures(figures: &Figures) -> Markup {
    if figures.judged == 0 {
        let text = match figures.errors {
            0 => "…".to_owned(),
            errors => prose::count(errors, "error"),
        };
        return html! { b { (text) } };
    }
    html! {
        b { (figures.pass_rate.map(percent).unwrap_or_default()) }
        small { (figures.passed) "/" (figures.judged) }
        @if let Some(score) = telling_score(figures) { small { "score " (wording::score(score)) } }
        @if figures.errors > 0 { small.trouble { "+" (prose::count(figures.errors, "error")) } }
    }
}

/// Returns the mean score, if it is not just the pass rate.
fn telling_score(figures: &Figures) -> Option<f64> {
    figures.mean_score.filter(|score| {
        figures
            .pass_rate
            .is_none_or(|rate| (rate - score).abs() > 0.005)
    })
}

/// Returns one of eleven steps from all failed to all passed.
fn class(figures: &Figures) -> String {
    match figures.pass_rate {
        Some(rate) => format!("heat-{:.0}", (rate * 10.0).round()),
        None if figures.errors > 0 => "heat-error".to_owned(),
        None => "empty".to_owned(),
    }
}
