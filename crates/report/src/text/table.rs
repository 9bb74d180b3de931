//! The results of a run as a table.
//!
//! With one variant every eval has a row of figures. With several, evals are rows and variants columns, and the
//! figures over all evals are below:
//!
//! ```text
//!                     gemini      gemini
//!                       base  with-rules
//! fib              3/4  0.75   4/4  1.00
//! fib-recursive    0/3  0.00   4/4  1.00  +1 error
//! ─────────────────────────────────────────────────
//! pass rate             38 %       100 %
//! ```
//!
//! Variants that do not fit beside each other continue in a further table below; names that do not fit are
//! wrapped or get a line of their own. Nothing is cut off.

use std::iter;

use terca_core::analysis::metrics::METRICS;
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::percent;
use terca_core::analysis::summary::{Figures, Summary, VariantSummary};

use crate::context::Context;
use crate::metrics;
use crate::names::Names;
use crate::term::{
    Answer, Grid, Role, Side, StyledLine, bold, clean, dim, plain, set, width, wrap,
};

const GAP: usize = 3;
const NOTE_GAP: usize = 2;
const WIDEST_TITLE: usize = 18;
/// `mean tokens`.
const NARROWEST_LABELS: usize = 11;

/// The table, in lines of at most `columns` where names and figures allow it. Empty when nothing was planned.
pub fn results_table(results: &Results, columns: usize) -> Answer {
    let mut answer = Answer::new(columns);
    if let [only] = results.summary.variants.as_slice() {
        let list = figures_of_evals(results, only);
        if list.iter().all(|line| line.width() <= columns) {
            list.into_iter().for_each(|line| answer.line(line));
            return answer;
        }
    }
    answer.panels(&panels(results, columns));
    answer
}

/// The table for the end of a run. Where variants do not fit beside each other, each has a row with its figures over all
/// evals.
pub fn brief_table(results: &Results, here: Context<'_>, columns: usize) -> Answer {
    const MOST_PANELS: usize = 2;
    if panels(results, columns).len() <= MOST_PANELS {
        return results_table(results, columns);
    }
    let mut grid = titled("all evals");
    let names = Names::of_results(results);
    for variant in &results.summary.variants {
        let name = names.variant(&variant.environment, &variant.experiment);
        grid.row(totals_row(&name, &variant.figures));
    }
    let more = format!("`{} show {}` has every eval", here.terca, results.run);
    grid.line(dim(&more));
    let mut answer = Answer::new(columns);
    answer.whole_table(&grid, 0);
    answer
}

/// As many variants beside each other as fit.
fn panels(results: &Results, columns: usize) -> Vec<Grid> {
    matrix(results, columns).panels(1, 2, columns)
}

fn titled(label: &str) -> Grid {
    let figures = METRICS.iter().map(|metric| (metric.column, Side::Right));
    Grid::titled([(label, Side::Left)].into_iter().chain(figures))
}

/// One variant: a row of figures for each eval, and one for all.
fn figures_of_evals(results: &Results, variant: &VariantSummary) -> Vec<StyledLine> {
    let mut grid = titled("eval");
    for cell in &results.summary.cells {
        let passed = metrics::passed(&cell.figures);
        grid.row(figures_row(&cell.eval, passed, &cell.figures));
    }
    grid.rule();
    grid.row(totals_row("all evals", &variant.figures));
    let mut lines = grid.lines();
    let further = metrics::further_shares([&variant.figures].into_iter());
    let told = further.iter().filter_map(|(title, shares)| {
        let share = percent(shares.first().copied().flatten()?);
        Some(format!("{title} {share}"))
    });
    let told: Vec<String> = told.collect();
    if !told.is_empty() {
        lines.push(dim(&told.join(", ")));
    }
    let names = Names::of_results(results);
    let title = names.variant(&variant.environment, &variant.experiment);
    if !title.is_empty() {
        lines.insert(0, bold(&title));
    }
    lines
}

fn totals_row(label: &str, figures: &Figures) -> Vec<StyledLine> {
    figures_row(label, metrics::figure(&METRICS[0], figures), figures)
}

fn figures_row(label: &str, passed: StyledLine, figures: &Figures) -> Vec<StyledLine> {
    let mut row = vec![plain(label), passed];
    let others = METRICS[1..].iter();
    row.extend(others.map(|metric| metrics::figure(metric, figures)));
    row.push(metrics::errors(figures));
    row
}

/// Evals by variants, with the figures over all evals below. Two columns for each variant: its figures, and notes beside them.
fn matrix(results: &Results, columns: usize) -> Grid {
    let summary = &results.summary;
    let evals = metrics::evals(summary);
    let names = Names::of_results(results);
    let further = metrics::further_shares(summary.variants.iter().map(|variant| &variant.figures));
    let titles: Vec<Vec<String>> = summary
        .variants
        .iter()
        .map(|variant| title(&names, variant, columns))
        .collect();
    let height = titles.iter().map(Vec::len).max().unwrap_or(0);
    let mut grid = Grid::default();
    grid.columns.push((Side::Left, 0));
    let mut bodies = Vec::new();
    for (index, (variant, title)) in summary.variants.iter().zip(titles).enumerate() {
        grid.columns
            .extend([(Side::Right, GAP), (Side::Left, NOTE_GAP)]);
        // Titles end right above the figures: a short one begins lower.
        let mut body = vec![Default::default(); height - title.len()];
        body.extend(title.iter().map(|line| without_note(bold(line))));
        body.extend(cells(summary, &evals, variant));
        let overall = METRICS.iter();
        let overall = overall.map(|metric| metrics::figure(metric, &variant.figures));
        let shares = further
            .iter()
            .map(|(_, shares)| metrics::share(shares[index]));
        body.extend(overall.chain(shares).map(without_note));
        bodies.push(body);
    }
    let label_width = label_width(&evals, columns);
    let overall = METRICS.iter().map(|metric| metric.title);
    let overall = overall.chain(further.iter().map(|(title, _)| title.as_str()));
    let labels = iter::repeat_n("", height).chain(evals.iter().copied());
    for (index, label) in labels.chain(overall).enumerate() {
        if index == height + evals.len() {
            grid.rule();
        }
        let mut label = clean(label);
        // A name that is too long for its column is above its row.
        if width(&label) > label_width {
            for line in wrap(&label, columns) {
                grid.line(plain(&line));
            }
            label = "".into();
        }
        let figures = bodies.iter().flat_map(|body| body[index].clone());
        grid.row([plain(&label)].into_iter().chain(figures));
    }
    grid
}

fn without_note(figures: StyledLine) -> [StyledLine; 2] {
    [figures, StyledLine::default()]
}

/// As wide as the longest name, of those that leave enough room for figures.
fn label_width(evals: &[&str], columns: usize) -> usize {
    let widest = columns * 2 / 5;
    let widths = evals
        .iter()
        .map(|eval| width(&clean(eval)))
        .filter(|width| *width <= widest);
    widths.max().unwrap_or(0).max(NARROWEST_LABELS)
}

/// Environment and experiment below each other, so that columns stay narrow.
fn title(names: &Names, variant: &VariantSummary, columns: usize) -> Vec<String> {
    let widest = WIDEST_TITLE.min(columns / 3).max(8);
    let parts = names.variant_parts(&variant.environment, &variant.experiment);
    parts.iter().flat_map(|part| wrap(part, widest)).collect()
}

/// The figures of each eval: `3/4  0.75`, and `+1 error`.
fn cells(summary: &Summary, evals: &[&str], variant: &VariantSummary) -> Vec<[StyledLine; 2]> {
    let cells = metrics::cells(summary);
    let figures = evals.iter().map(|eval| {
        let key = [*eval, &variant.environment, &variant.experiment];
        cells.get(&key).copied()
    });
    let known = figures.clone().flatten();
    let widths = known.map(|figures| metrics::passed(figures).width());
    let widest_pass = widths.max().unwrap_or(0);
    let cell = |figures: &Figures| {
        let mut body = set(&metrics::passed(figures), widest_pass, Side::Right);
        if figures.judged > 0 {
            body.push(Role::Plain, "  ");
            body.append(metrics::figure(&METRICS[1], figures));
        }
        [body, metrics::errors(figures)]
    };
    figures
        .map(|figures| figures.map(cell).unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests;
