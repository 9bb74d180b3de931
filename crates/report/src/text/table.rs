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

use terca_core::analysis::metrics::METRICS;
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::percent;
use terca_core::analysis::summary::{Figures, VariantSummary};

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
    let matrix = Matrix::of(results, columns);
    for panel in matrix.panels(columns) {
        answer.end_part();
        answer.whole_table(&matrix.panel(panel), 0);
    }
    answer
}

/// The table for the end of a run. Where variants do not fit beside each other, each has a row with its figures over all
/// evals.
pub fn brief_table(results: &Results, here: Context<'_>, columns: usize) -> Answer {
    const MOST_PANELS: usize = 2;
    if Matrix::of(results, columns).panels(columns).len() <= MOST_PANELS {
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
    let reliability = metrics::reliability([&variant.figures].into_iter());
    let told: Vec<String> = reliability
        .iter()
        .map(|(title, shares)| format!("{title} {}", percent(shares[0])))
        .collect();
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

/// Evals by variants.
struct Matrix {
    evals: Vec<String>,
    variants: Vec<Variant>,
    /// The titles of the figures over all evals.
    overall: Vec<String>,
    label_width: usize,
    /// The longest name that fits a line of its own.
    line_width: usize,
}

/// A variant: all that is in its columns.
struct Variant {
    title: Vec<String>,
    /// The figures of each eval, and a note beside them.
    cells: Vec<(StyledLine, StyledLine)>,
    overall: Vec<StyledLine>,
}

impl Matrix {
    fn of(results: &Results, columns: usize) -> Self {
        let summary = &results.summary;
        let evals = metrics::evals(summary);
        let names = Names::of_results(results);
        let cells = metrics::cells(summary);
        let reliability =
            metrics::reliability(summary.variants.iter().map(|variant| &variant.figures));
        let mut variants = Vec::new();
        for (index, variant) in summary.variants.iter().enumerate() {
            let (environment, experiment) = (&*variant.environment, &*variant.experiment);
            let figures: Vec<Option<&Figures>> = evals
                .iter()
                .map(|eval| cells.get(&[*eval, environment, experiment]).copied())
                .collect();
            let title = title(&names, variant, columns);
            let mut variant = Variant::of(title, &figures, &variant.figures);
            let shares = reliability.iter().map(|(_, shares)| shares[index]);
            variant.overall.extend(shares.map(metrics::share));
            variants.push(variant);
        }
        let titles = METRICS.iter().map(|metric| metric.title.to_owned());
        Matrix {
            label_width: label_width(&evals, columns),
            line_width: columns,
            overall: titles
                .chain(reliability.into_iter().map(|(title, _)| title))
                .collect(),
            evals: evals.into_iter().map(str::to_owned).collect(),
            variants,
        }
    }

    /// As many variants beside each other as fit, but at least one.
    fn panels(&self, columns: usize) -> Vec<&[Variant]> {
        let mut panels = Vec::new();
        let mut rest = self.variants.as_slice();
        while !rest.is_empty() {
            let mut used = self.label_width;
            let fitting = rest.iter().take_while(|variant| {
                used += GAP + variant.width();
                used <= columns
            });
            let (panel, others) = rest.split_at(fitting.count().max(1));
            panels.push(panel);
            rest = others;
        }
        panels
    }

    fn panel(&self, variants: &[Variant]) -> Grid {
        let mut grid = Grid::default();
        grid.columns.push((Side::Left, 0));
        for _ in variants {
            let columns = [(Side::Right, GAP), (Side::Left, NOTE_GAP)];
            grid.columns.extend(columns);
        }
        let heights = variants.iter().map(|variant| variant.title.len());
        let height = heights.max().unwrap_or(0);
        for line in 0..height {
            grid.row(row("", variants, |variant| variant.title(line, height)));
        }
        for (index, eval) in self.evals.iter().enumerate() {
            let label = clean(eval);
            let is_short = width(&label) <= self.label_width;
            // A name that is too long for its column is above its row.
            if !is_short {
                for line in wrap(&label, self.line_width) {
                    grid.line(plain(&line));
                }
            }
            let mut cells = vec![plain(if is_short { &label } else { "" })];
            for variant in variants {
                let (figures, note) = &variant.cells[index];
                cells.extend([figures.clone(), note.clone()]);
            }
            grid.row(cells);
        }
        grid.rule();
        for (index, title) in self.overall.iter().enumerate() {
            grid.row(row(title, variants, |variant| {
                variant.overall[index].clone()
            }));
        }
        grid
    }
}

/// A row without notes.
fn row(
    label: &str,
    variants: &[Variant],
    cell: impl Fn(&Variant) -> StyledLine,
) -> Vec<StyledLine> {
    let mut cells = vec![plain(label)];
    for variant in variants {
        cells.extend([cell(variant), StyledLine::default()]);
    }
    cells
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

impl Variant {
    fn of(title: Vec<String>, figures: &[Option<&Figures>], overall: &Figures) -> Self {
        let widest_pass = figures
            .iter()
            .flatten()
            .map(|figures| metrics::passed(figures).width())
            .max()
            .unwrap_or(0);
        let cells = figures.iter().map(|figures| {
            figures.map_or_else(Default::default, |figures| cell(figures, widest_pass))
        });
        Variant {
            title,
            cells: cells.collect(),
            overall: METRICS
                .iter()
                .map(|metric| metrics::figure(metric, overall))
                .collect(),
        }
    }

    /// The figures, and the notes where there are some.
    fn width(&self) -> usize {
        let titles = self.title.iter().map(|line| width(line));
        let figures = self.cells.iter().map(|(figures, _)| figures);
        let figures = figures.chain(&self.overall).map(StyledLine::width);
        let notes = self.cells.iter().map(|(_, note)| note.width());
        let body = titles.chain(figures).max().unwrap_or(0);
        match notes.max().unwrap_or(0) {
            0 => body,
            note => body + NOTE_GAP + note,
        }
    }

    /// A line of its title. Titles end right above the figures: a short one begins lower.
    fn title(&self, line: usize, of: usize) -> StyledLine {
        let missing = of - self.title.len();
        let text = line
            .checked_sub(missing)
            .and_then(|line| self.title.get(line));
        text.map_or_else(StyledLine::default, |text| bold(text))
    }
}

/// `3/4  0.75`, and `+1 error`.
fn cell(figures: &Figures, widest_pass: usize) -> (StyledLine, StyledLine) {
    let mut body = set(&metrics::passed(figures), widest_pass, Side::Right);
    if figures.judged > 0 {
        body.push(Role::Plain, "  ");
        body.append(metrics::figure(&METRICS[1], figures));
    }
    (body, metrics::errors(figures))
}

#[cfg(test)]
mod tests;
