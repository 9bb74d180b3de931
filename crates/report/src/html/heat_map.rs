//! The evals and variants of a run, numbered, and the map of them with a colour for each pass rate. The figures are in the cells too, for those who see no colours.

use std::collections::HashMap;

use maud::{Markup, html};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::{percent, signed};
use terca_core::analysis::summary::{CellSummary, Figures, Summary, wording};
use terca_core::text::prose;

use super::pair::Cells;
use crate::metrics::reliability;

/// The columns: the numbers of the variants, those of one environment side by side.
struct Columns<'a> {
    /// Each environment with its variants.
    groups: Vec<(&'a str, Vec<usize>)>,
}

impl<'a> Columns<'a> {
    fn of(matrix: &Matrix<'a>) -> Self {
        let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
        for (number, (environment, _)) in matrix.variants.iter().enumerate() {
            match groups.iter_mut().find(|(name, _)| name == environment) {
                Some((_, numbers)) => numbers.push(number),
                None => groups.push((environment, vec![number])),
            }
        }
        Columns { groups }
    }

    fn numbers(&self) -> impl Iterator<Item = usize> {
        self.groups
            .iter()
            .flat_map(|(_, numbers)| numbers.iter().copied())
    }

    /// Returns one row of names, or two where there are several environments.
    fn titles(&self, matrix: &Matrix<'_>) -> Markup {
        let is_grouped = self.groups.len() > 1;
        html! {
            @if is_grouped {
                tr.environments {
                    th scope="col" rowspan="2" { "Eval" }
                    @for (environment, numbers) in &self.groups {
                        th scope="colgroup" colspan=(numbers.len()) { (environment) }
                    }
                }
            }
            tr.experiments {
                @if !is_grouped { th scope="col" { "Eval" } }
                @for number in self.numbers() { th scope="col" { (matrix.variants[number].1) } }
            }
        }
    }
}

/// The figures of a run, by eval and variant.
struct Figured<'a> {
    cells: HashMap<(&'a str, &'a str, &'a str), &'a CellSummary>,
    /// The differences to the baseline, by eval, environment and experiment.
    differences: HashMap<(&'a str, &'a str, &'a str), f64>,
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
                let key = (effect.eval.as_str(), place, comparison.arm.as_str());
                differences.insert(key, effect.difference);
            }
        }
        let cell = |cell: &'a CellSummary| {
            let key = (&*cell.eval, &*cell.environment, &*cell.experiment);
            (key, cell)
        };
        Figured {
            cells: summary.cells.iter().map(cell).collect(),
            differences,
            trials: Cells::of(results),
        }
    }
}

/// Returns the table of pass rates.
pub fn heat_map(results: &Results, matrix: &Matrix<'_>) -> Markup {
    let summary = &results.summary;
    let columns = Columns::of(matrix);
    let figured = Figured::of(results);
    html! {
        section aria-labelledby="heat-title" {
            h2 #heat-title { "Evals × variants" }
            div.scroll.tall tabindex="0" role="region" aria-label="Heat map" {
                table.heat {
                    caption.unseen { "Pass rates by eval and variant" }
                    thead { (columns.titles(matrix)) }
                    tbody {
                        @for (number, eval) in matrix.evals.iter().enumerate() {
                            (row(&figured, matrix, &columns, number, eval))
                        }
                    }
                    tfoot { (totals(summary, &columns)) }
                }
            }
            p.quiet.reading {
                "A cell has the share of its trials that passed"
                @if !figured.differences.is_empty() { ", and the difference to " (summary.baseline) " in points" }
                ". All evals: the mean of the evals' rates, so that an eval with more trials does not weigh more."
            }
        }
    }
}

fn row(
    figured: &Figured<'_>,
    matrix: &Matrix<'_>,
    columns: &Columns<'_>,
    number: usize,
    eval: &str,
) -> Markup {
    html! {
        tr {
            th scope="row" { (eval) }
            @for variant in columns.numbers() {
                @let (environment, experiment) = matrix.variants[variant];
                @let key = (eval, environment, experiment);
                @if let Some(cell) = figured.cells.get(&key) {
                    td class=(class(&cell.figures)) {
                        a href={ "#trials?eval=" (number) "&variant=" (variant) } {
                            (figures(&cell.figures, figured.differences.get(&key).copied()))
                        }
                        @if let Some(pair) = figured.trials.pair(key) {
                            a.beside href=(pair) title="Two trials side by side" {
                                "⇄" span.unseen { " two trials of " (eval) " side by side" }
                            }
                        }
                    }
                } @else {
                    td.empty { "–" }
                }
            }
        }
    }
}

fn totals(summary: &Summary, columns: &Columns<'_>) -> Markup {
    html! {
        tr {
            th scope="row" { "All evals" small { "mean of the rates above" } }
            @for number in columns.numbers() {
                @let total = &summary.variants[number].figures;
                td class=(class(total)) { span { (figures(total, None)) } }
            }
        }
        @for (title, shares) in reliability(summary.variants.iter().map(|variant| &variant.figures)) {
            tr {
                th scope="row" { (title) }
                @for number in columns.numbers() { td { span { (percent(shares[number])) } } }
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

/// The evals and variants of a run. The script finds them by their numbers.
#[derive(Debug)]
pub struct Matrix<'a> {
    /// The names of the evals, in the order of the run.
    pub evals: Vec<&'a str>,
    /// The environment and the experiment of each variant.
    pub variants: Vec<(&'a str, &'a str)>,
}

impl<'a> Matrix<'a> {
    /// Lists the evals and variants of a summary.
    pub fn of(summary: &'a Summary) -> Self {
        let mut evals: Vec<&str> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for cell in &summary.cells {
            if seen.insert(cell.eval.as_str()) {
                evals.push(&cell.eval);
            }
        }
        let variants = summary
            .variants
            .iter()
            .map(|variant| (variant.environment.as_str(), variant.experiment.as_str()))
            .collect();
        Matrix { evals, variants }
    }

    /// Returns a name that tells a variant from the others: what all have alike is left out.
    pub fn variant_name(&self, environment: &str, experiment: &str) -> String {
        let one_environment = self.variants.iter().all(|(other, _)| *other == environment);
        let one_experiment = self.variants.iter().all(|(_, other)| *other == experiment);
        match (one_environment, one_experiment) {
            (true, _) => experiment.to_owned(),
            (false, true) => environment.to_owned(),
            (false, false) => format!("{environment} · {experiment}"),
        }
    }

    /// Returns the number of an eval.
    pub fn eval_number(&self, eval: &str) -> usize {
        self.evals
            .iter()
            .position(|other| *other == eval)
            .unwrap_or_default()
    }

    /// Returns the number of a variant.
    pub fn variant_number(&self, environment: &str, experiment: &str) -> usize {
        self.variants
            .iter()
            .position(|other| *other == (environment, experiment))
            .unwrap_or_default()
    }

    /// Finds the figures of an eval in a variant.
    pub fn cell<'s>(
        &self,
        summary: &'s Summary,
        eval: &str,
        (environment, experiment): (&str, &str),
    ) -> Option<&'s CellSummary> {
        summary.cells.iter().find(|cell| {
            cell.eval == eval && cell.environment == environment && cell.experiment == experiment
        })
    }
}
