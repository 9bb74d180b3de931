//! The map of evals and variants with a colour for each pass rate. The figures are in the cells too, for those who see no colours.

use std::collections::HashMap;

use maud::{Markup, html};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::{percent, signed};
use terca_core::analysis::summary::{Figures, Summary, wording};
use terca_core::text::prose;

use super::matrix::Matrix;
use super::pair::Cells;
use super::text::{or_dash, section};
use crate::groups::grouped;
use crate::metrics;

/// The columns: each environment with the numbers of its variants, side by side.
type Columns<'a> = Vec<(&'a str, Vec<usize>)>;

fn columns<'a>(matrix: &Matrix<'a>) -> Columns<'a> {
    let variants = matrix.variants.iter().enumerate();
    grouped(variants.map(|(number, (environment, _))| (*environment, number)))
}

/// Returns one row of names, or two where there are several environments.
fn titles(columns: &Columns<'_>, numbers: &[usize], matrix: &Matrix<'_>) -> Markup {
    let is_grouped = columns.len() > 1;
    html! {
        @if is_grouped {
            tr.environments {
                th scope="col" rowspan="2" { "Eval" }
                @for (environment, numbers) in columns {
                    th scope="colgroup" colspan=(numbers.len()) { (environment) }
                }
            }
        }
        tr.experiments {
            @if !is_grouped { th scope="col" { "Eval" } }
            @for number in numbers { th scope="col" { (matrix.variants[*number].1) } }
        }
    }
}

/// The figures of a run, by the names of eval, environment and experiment.
struct Figured<'a> {
    cells: HashMap<[&'a str; 3], &'a Figures>,
    /// The differences to the baseline.
    differences: HashMap<[&'a str; 3], f64>,
    trials: Cells<'a>,
}

impl<'a> Figured<'a> {
    fn of(results: &'a Results) -> Self {
        let summary = &results.summary;
        let mut differences = HashMap::new();
        for comparison in &summary.comparisons {
            let Some(place) = comparison.place.as_deref() else {
                continue;
            };
            for effect in &comparison.per_eval {
                let key = [effect.eval.as_str(), place, &comparison.arm];
                differences.insert(key, effect.difference);
            }
        }
        Figured {
            cells: metrics::cells(summary),
            differences,
            trials: Cells::of(results),
        }
    }
}

/// Returns the table of pass rates.
pub fn heat_map(results: &Results, matrix: &Matrix<'_>) -> Markup {
    let summary = &results.summary;
    let columns = columns(matrix);
    let numbers: Vec<usize> = columns
        .iter()
        .flat_map(|(_, numbers)| numbers.clone())
        .collect();
    let figured = Figured::of(results);
    let body = html! {
        div.scroll.tall tabindex="0" role="region" aria-label="Heat map" {
            table.heat {
                caption.unseen { "Pass rates by eval and variant" }
                thead { (titles(&columns, &numbers, matrix)) }
                tbody {
                    @for (number, eval) in matrix.evals.iter().enumerate() {
                        tr {
                            th scope="row" { (eval) }
                            @for variant in &numbers { (cell(&figured, matrix, (number, *variant))) }
                        }
                    }
                }
                tfoot { (totals(summary, &numbers)) }
            }
        }
        p.quiet.reading {
            "A cell has the share of its trials that passed"
            @if !figured.differences.is_empty() { ", and the difference to " (summary.baseline) " in points" }
            ". All evals: the mean of the evals' rates, so that an eval with more trials does not weigh more."
        }
    };
    section("heat", "Evals × variants", &body)
}

fn cell(figured: &Figured<'_>, matrix: &Matrix<'_>, (number, variant): (usize, usize)) -> Markup {
    let eval = matrix.evals[number];
    let (environment, experiment) = matrix.variants[variant];
    let key = [eval, environment, experiment];
    let Some(cell) = figured.cells.get(&key) else {
        return html! { td.empty { "–" } };
    };
    html! {
        td class=(class(cell)) {
            a href={ "#trials?eval=" (number) "&variant=" (variant) } {
                (figures(cell, figured.differences.get(&key).copied()))
            }
            @if let Some(pair) = figured.trials.pair((eval, environment, experiment)) {
                a.beside href=(pair) title="Two trials side by side" {
                    "⇄" span.unseen { " two trials of " (eval) " side by side" }
                }
            }
        }
    }
}

fn totals(summary: &Summary, numbers: &[usize]) -> Markup {
    html! {
        tr {
            th scope="row" { "All evals" small { "mean of the rates above" } }
            @for number in numbers {
                @let total = &summary.variants[*number].figures;
                td class=(class(total)) { span { (figures(total, None)) } }
            }
        }
        @for (title, shares) in metrics::further_shares(summary.variants.iter().map(|variant| &variant.figures)) {
            tr {
                th scope="row" { (title) }
                @for number in numbers { td { span { (or_dash(shares[*number].map(percent))) } } }
            }
        }
    }
}

/// Returns the pass rate, and below it what the colour does not show.
fn figures(figures: &Figures, difference: Option<f64>) -> Markup {
    if figures.judged == 0 {
        let text = match figures.errors {
            0 => "…".to_owned(),
            errors => prose::count(errors, "error"),
        };
        return html! { b { (text) } };
    }
    html! {
        b { (figures.pass_rate.map(percent).unwrap_or_default()) }
        small {
            (figures.passed) "/" (figures.judged)
            @if let Some(difference) = difference { span.difference { (signed(difference)) } }
        }
        @if let Some(score) = telling_score(figures) { small { "score " (wording::score(score)) } }
        @if figures.errors > 0 { small.trouble { "+" (prose::count(figures.errors, "error")) } }
        @if let Some(retried) = metrics::retried(figures) { small.trouble { (retried) } }
    }
}

/// Returns the mean score, if it is not just the pass rate.
fn telling_score(figures: &Figures) -> Option<f64> {
    let rate = figures.pass_rate;
    let is_other = |score: &f64| rate.is_none_or(|rate| (rate - score).abs() > 0.005);
    figures.mean_score.filter(is_other)
}

/// Returns one of eleven steps from all failed to all passed.
fn class(figures: &Figures) -> String {
    match figures.pass_rate {
        Some(rate) => format!("heat-{:.0}", (rate * 10.0).round()),
        None if figures.errors > 0 => "heat-error".to_owned(),
        None => "empty".to_owned(),
    }
}
