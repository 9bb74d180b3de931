//! Two runs side by side: each eval and variant in both, and how its pass rate changed.
//!
//! There is no verdict here. Runs of different days differ in more than one thing; certain is only what each of them
//! saw, so both figures are shown with their intervals.

use maud::{Markup, html};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::{percent, points};
use terca_core::analysis::summary::{CellSummary, Figures};

use super::assets::Kind;
use super::pieces::{column_titles, navigation, or_dash, run_status, time};
use super::shell::document;

const REMARK: &str = "Both with 95 % intervals. Two runs may also differ in days, versions or models, so there is no \
                      verdict between them. To get one, make both experiments of one run.";

/// Returns the page of two runs.
pub fn compare_page(first: &Results, second: &Results) -> String {
    let body = html! {
        (navigation(&html! { a href="../../" { "All runs" } }))
        main #content {
            header.masthead { h1 { "Two runs" } }
            div.cards.pair {
                (about("A", first))
                (about("B", second))
            }
            p.quiet { (REMARK) }
            table.trials.compared {
                caption.unseen { "Pass rates in both runs" }
                thead { (column_titles(&["Eval", "Variant", "A", "B", "B − A"])) }
                tbody { (rows(&cells(first), &cells(second))) }
            }
        }
    };
    let title = format!("{} and {}", first.run, second.run);
    document(Kind::Served, &title, &body)
}

fn about(letter: &str, results: &Results) -> Markup {
    let summary = &results.summary;
    html! {
        section.card {
            h2 { (letter) ": " a href={ "../../runs/" (results.run) "/" } { (results.run) } }
            p.facts {
                (run_status(results.status))
                span { (results.suite) }
                @if let Some(at) = results.started_at { (time(at)) }
            }
            p {
                (summary.passed) " of " (summary.trials) " trials passed, "
                (summary.errors) " ended in errors"
            }
        }
    }
}

/// A line of the table: an eval in a variant.
struct Cell<'a> {
    /// `None` for all evals together.
    eval: Option<&'a str>,
    environment: &'a str,
    experiment: &'a str,
    figures: &'a Figures,
}

impl Cell<'_> {
    fn is_about(&self, other: &Cell<'_>) -> bool {
        self.eval == other.eval
            && self.environment == other.environment
            && self.experiment == other.experiment
    }
}

/// Returns the variants over all evals first, then each eval.
fn cells(results: &Results) -> Vec<Cell<'_>> {
    let variants = results.summary.variants.iter().map(|variant| Cell {
        eval: None,
        environment: &variant.environment,
        experiment: &variant.experiment,
        figures: &variant.figures,
    });
    let evals = results.summary.cells.iter().map(|cell: &CellSummary| Cell {
        eval: Some(&cell.eval),
        environment: &cell.environment,
        experiment: &cell.experiment,
        figures: &cell.figures,
    });
    variants.chain(evals).collect()
}

/// Returns a row for each cell of either run. A run that lacks it has a dash there.
fn rows(first: &[Cell<'_>], second: &[Cell<'_>]) -> Markup {
    let only_second = second
        .iter()
        .filter(|cell| !first.iter().any(|other| other.is_about(cell)));
    html! {
        @for cell in first {
            @let other = second.iter().find(|other| other.is_about(cell));
            (row(cell, Some(cell.figures), other.map(|other| other.figures)))
        }
        @for cell in only_second { (row(cell, None, Some(cell.figures))) }
    }
}

fn row(cell: &Cell<'_>, first: Option<&Figures>, second: Option<&Figures>) -> Markup {
    let first_rate = first.and_then(|figures| figures.pass_rate);
    let second_rate = second.and_then(|figures| figures.pass_rate);
    let change = first_rate.zip(second_rate).map(|(one, other)| other - one);
    let tone = match change {
        Some(change) if change > 0.0 => "up",
        Some(change) if change < 0.0 => "down",
        _ => "quiet",
    };
    html! {
        tr data-total[cell.eval.is_none()] {
            th scope="row" { (cell.eval.unwrap_or("All evals")) }
            td { (cell.environment) " · " (cell.experiment) }
            td.num { (figures(first)) }
            td.num { (figures(second)) }
            td class={ "num " (tone) } { (or_dash(change.map(points))) }
        }
    }
}

fn figures(figures: Option<&Figures>) -> Markup {
    let Some((figures, rate)) = figures.and_then(|figures| Some((figures, figures.pass_rate?)))
    else {
        return html! { "–" };
    };
    html! {
        b { (percent(rate)) }
        small {
            (figures.passed) "/" (figures.judged)
            @if let Some(interval) = figures.pass_rate_interval {
                ", " (percent(interval.low)) " … " (percent(interval.high))
            }
        }
    }
}
