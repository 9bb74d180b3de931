//! The results of a run as a table.
//!
//! With one variant every eval has a row of figures. With several, evals are rows and variants columns, and the
//! figures over all evals stand below:
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

use std::collections::HashMap;

use terca_core::analysis::metrics::METRICS;
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::{Figures, VariantSummary};

use crate::metrics;
use crate::names::Names;
use crate::term::grid::{Grid, Side, set};
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;
use crate::term::width::{clean, width, wrap};

const GAP: usize = 3;
const WIDEST_TITLE: usize = 18;
/// `mean tokens`.
const NARROWEST_LABELS: usize = 11;

/// The table, in lines of at most `columns` where names and figures allow it. Empty when nothing was planned.
pub fn results_table(results: &Results, columns: usize, palette: Palette) -> String {
    if let [only] = results.summary.variants.as_slice() {
        let list = figures_of_evals(results, only);
        if list.iter().all(|line| line.width() <= columns) {
            return render(&list, palette);
        }
    }
    let matrix = Matrix::of(results, columns);
    let tables: Vec<String> = matrix
        .panels(columns)
        .into_iter()
        .map(|panel| render(&matrix.panel(panel), palette))
        .collect();
    tables.join("\n")
}

fn render(lines: &[StyledLine], palette: Palette) -> String {
    lines
        .iter()
        .map(|line| line.render(palette) + "\n")
        .collect()
}

/// One variant: a row of figures for each eval, and one for all.
fn figures_of_evals(results: &Results, variant: &VariantSummary) -> Vec<StyledLine> {
    let mut sides = [Side::Right; 1 + METRICS.len()];
    sides[0] = Side::Left;
    let mut grid = Grid::new(&sides);
    let titles = METRICS.iter().map(|metric| metric.column);
    grid.row(
        ["eval"]
            .into_iter()
            .chain(titles)
            .map(|title| StyledLine::of(Role::Bold, title)),
    );
    for cell in &results.summary.cells {
        grid.row(figures_row(
            &cell.eval,
            metrics::passed(&cell.figures),
            &cell.figures,
        ));
    }
    grid.row(figures_row(
        "all evals",
        metrics::styled(&METRICS[0], &variant.figures),
        &variant.figures,
    ));
    let mut lines = grid.lines();
    let rule = rule(lines.iter().map(StyledLine::width).max().unwrap_or(0));
    lines.insert(lines.len() - 1, rule);
    let names = Names::of(results.trials.iter().map(|trial| &trial.head));
    let title = names.variant(&variant.environment, &variant.experiment);
    if !title.is_empty() {
        lines.insert(0, StyledLine::of(Role::Bold, &title));
    }
    lines
}

fn figures_row(label: &str, passed: StyledLine, figures: &Figures) -> Vec<StyledLine> {
    let mut row = vec![StyledLine::plain(label), passed];
    row.extend(
        METRICS[1..]
            .iter()
            .map(|metric| metrics::styled(metric, figures)),
    );
    row.push(metrics::errors(figures));
    row
}

fn rule(columns: usize) -> StyledLine {
    StyledLine::of(Role::Dim, &"─".repeat(columns))
}

/// Evals by variants.
struct Matrix {
    evals: Vec<String>,
    columns: Vec<Column>,
    label_width: usize,
    /// How long a name may be that stands on a line of its own.
    line_width: usize,
}

/// A variant: everything that stands in its column.
struct Column {
    title: Vec<String>,
    /// A figure for each eval, and what is noted beside it.
    cells: Vec<(StyledLine, StyledLine)>,
    closing: Vec<StyledLine>,
    body_width: usize,
    note_width: usize,
}

impl Matrix {
    fn of(results: &Results, columns: usize) -> Self {
        let summary = &results.summary;
        let mut evals: Vec<String> = summary.cells.iter().map(|cell| cell.eval.clone()).collect();
        evals.dedup();
        let names = Names::of(results.trials.iter().map(|trial| &trial.head));
        let cells: HashMap<(&str, &str, &str), &Figures> = summary
            .cells
            .iter()
            .map(|cell| {
                (
                    (&*cell.eval, &*cell.environment, &*cell.experiment),
                    &cell.figures,
                )
            })
            .collect();
        let of_variant = |variant: &VariantSummary| {
            let key = |eval| (eval, &*variant.environment, &*variant.experiment);
            let figures: Vec<Option<&Figures>> = evals
                .iter()
                .map(|eval| cells.get(&key(eval.as_str())).copied())
                .collect();
            Column::of(title(&names, variant, columns), &figures, &variant.figures)
        };
        let columns_: Vec<Column> = summary.variants.iter().map(of_variant).collect();
        Matrix {
            label_width: label_width(&evals, columns),
            line_width: columns,
            evals,
            columns: columns_,
        }
    }

    /// As many variants beside each other as fit, but at least one.
    fn panels(&self, columns: usize) -> Vec<&[Column]> {
        let mut panels = Vec::new();
        let mut rest = self.columns.as_slice();
        while !rest.is_empty() {
            let mut used = self.label_width;
            let fitting = rest.iter().take_while(|column| {
                used += GAP + column.width();
                used <= columns
            });
            let (panel, others) = rest.split_at(fitting.count().max(1));
            panels.push(panel);
            rest = others;
        }
        panels
    }

    fn panel(&self, columns: &[Column]) -> Vec<StyledLine> {
        let height = columns
            .iter()
            .map(|column| column.title.len())
            .max()
            .unwrap_or(0);
        let mut lines: Vec<StyledLine> = (0..height)
            .map(|line| {
                self.row("", columns, |column| {
                    (column.title(line, height), StyledLine::new())
                })
            })
            .collect();
        for (index, eval) in self.evals.iter().enumerate() {
            lines.extend(self.eval(eval, columns, |column| column.cells[index].clone()));
        }
        lines.push(rule(lines.iter().map(StyledLine::width).max().unwrap_or(0)));
        for (index, metric) in METRICS.iter().enumerate() {
            lines.push(self.row(metric.title, columns, |column| {
                (column.closing[index].clone(), StyledLine::new())
            }));
        }
        lines
    }

    /// The row of an eval; a name that is too long for its column stands above it.
    fn eval(
        &self,
        name: &str,
        columns: &[Column],
        cell: impl Fn(&Column) -> (StyledLine, StyledLine),
    ) -> Vec<StyledLine> {
        let label = clean(name);
        if width(&label) <= self.label_width {
            return vec![self.row(&label, columns, cell)];
        }
        let mut lines: Vec<StyledLine> = wrap(&label, self.line_width)
            .iter()
            .map(|line| StyledLine::plain(line))
            .collect();
        lines.push(self.row("", columns, cell));
        lines
    }

    fn row(
        &self,
        label: &str,
        columns: &[Column],
        cell: impl Fn(&Column) -> (StyledLine, StyledLine),
    ) -> StyledLine {
        let mut line = StyledLine::plain(label);
        let mut end = self.label_width;
        for column in columns {
            let (body, note) = cell(column);
            line.pad_to(end + GAP);
            line.append(set(&body, column.body_width, Side::Right));
            if !note.is_empty() {
                line.push(Role::Plain, "  ");
                line.append(note);
            }
            end += GAP + column.width();
        }
        line
    }
}

/// As wide as the longest name, of those that leave enough room for figures.
fn label_width(evals: &[String], columns: usize) -> usize {
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

impl Column {
    fn of(title: Vec<String>, figures: &[Option<&Figures>], overall: &Figures) -> Self {
        let widest_pass = figures
            .iter()
            .flatten()
            .map(|figures| metrics::passed(figures).width())
            .max()
            .unwrap_or(0);
        let cells: Vec<(StyledLine, StyledLine)> = figures
            .iter()
            .map(|figures| {
                figures.map_or_else(Default::default, |figures| cell(figures, widest_pass))
            })
            .collect();
        let closing: Vec<StyledLine> = METRICS
            .iter()
            .map(|metric| metrics::styled(metric, overall))
            .collect();
        let bodies = cells
            .iter()
            .map(|(body, _)| body)
            .chain(&closing)
            .map(StyledLine::width);
        Column {
            body_width: bodies
                .chain(title.iter().map(|line| width(line)))
                .max()
                .unwrap_or(0),
            note_width: cells
                .iter()
                .map(|(_, note)| note.width())
                .max()
                .unwrap_or(0),
            title,
            cells,
            closing,
        }
    }

    fn width(&self) -> usize {
        self.body_width
            + if self.note_width > 0 {
                2 + self.note_width
            } else {
                0
            }
    }

    /// Titles stand on the figures: a short one begins lower.
    fn title(&self, line: usize, of: usize) -> StyledLine {
        let missing = of - self.title.len();
        let text = line
            .checked_sub(missing)
            .and_then(|line| self.title.get(line));
        text.map_or_else(StyledLine::new, |text| StyledLine::of(Role::Bold, text))
    }
}

/// `3/4  0.75`, and `+1 error`.
fn cell(figures: &Figures, widest_pass: usize) -> (StyledLine, StyledLine) {
    let mut body = set(&metrics::passed(figures), widest_pass, Side::Right);
    if figures.judged > 0 {
        body.push(Role::Plain, "  ");
        body.append(metrics::styled(&METRICS[1], figures));
    }
    (body, metrics::errors(figures))
}

#[cfg(test)]
mod tests;
