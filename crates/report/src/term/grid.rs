//! Rows of cells, aligned. No borders: space separates well enough, and copies better.

use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;
use crate::term::width::spaces;

const GAP: usize = 2;

/// The edge of its column that a cell is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// A column: its side, and the space before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    pub side: Side,
    pub gap: usize,
}

impl Column {
    const LAST: Column = Column {
        side: Side::Left,
        gap: GAP,
    };
}

/// Cells in rows. A column is as wide as its widest cell.
#[derive(Debug, Clone)]
pub struct Grid {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

#[derive(Debug, Clone)]
enum Row {
    Cells(Vec<StyledLine>),
    /// A line across all columns.
    Line(StyledLine),
    /// A rule as wide as the widest other row.
    Rule,
}

impl Grid {
    /// Columns with the usual space between them.
    pub fn new(sides: &[Side]) -> Self {
        let columns = sides.iter().map(|side| Column {
            side: *side,
            gap: GAP,
        });
        Grid::with_columns(columns.collect())
    }

    /// Columns with titles.
    pub fn titled<'a>(columns: impl IntoIterator<Item = (&'a str, Side)>) -> Self {
        let (titles, sides): (Vec<&str>, Vec<Side>) = columns.into_iter().unzip();
        let mut grid = Grid::new(&sides);
        grid.row(titles.iter().map(|title| StyledLine::of(Role::Bold, title)));
        grid
    }

    /// Columns with spaces of their own between them.
    pub fn with_columns(columns: Vec<Column>) -> Self {
        Grid {
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a row. Cells beyond the columns are set left.
    pub fn row(&mut self, cells: impl IntoIterator<Item = StyledLine>) {
        self.rows.push(Row::Cells(cells.into_iter().collect()));
    }

    /// Adds a line across all columns.
    pub fn line(&mut self, line: StyledLine) {
        self.rows.push(Row::Line(line));
    }

    /// Adds a rule.
    pub fn rule(&mut self) {
        self.rows.push(Row::Rule);
    }

    /// Returns the rows as lines.
    pub fn lines(&self) -> Vec<StyledLine> {
        let widths = self.widths();
        let mut lines: Vec<StyledLine> = self
            .rows
            .iter()
            .map(|row| match row {
                Row::Cells(cells) => self.aligned(cells, &widths),
                Row::Line(line) => line.clone(),
                Row::Rule => StyledLine::new(),
            })
            .collect();
        let widest = lines.iter().map(StyledLine::width).max().unwrap_or(0);
        for (line, row) in lines.iter_mut().zip(&self.rows) {
            if matches!(row, Row::Rule) {
                line.push(Role::Dim, &"─".repeat(widest));
            }
        }
        lines
    }

    /// Returns the width of the widest row.
    pub fn width(&self) -> usize {
        let lines = self.lines();
        lines.iter().map(StyledLine::width).max().unwrap_or(0)
    }

    /// Returns the rows, each indented and ended by a line feed.
    pub fn render(&self, indent: usize, palette: Palette) -> String {
        self.lines()
            .iter()
            .map(|line| format!("{}{}\n", spaces(indent), line.render(palette)))
            .collect()
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            let Row::Cells(cells) = row else { continue };
            widths.resize(widths.len().max(cells.len()), 0);
            for (widest, cell) in widths.iter_mut().zip(cells) {
                *widest = (*widest).max(cell.width());
            }
        }
        widths
    }

    fn aligned(&self, cells: &[StyledLine], widths: &[usize]) -> StyledLine {
        let mut line = StyledLine::new();
        let mut end = 0;
        for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
            // A column that is empty in every row takes no gap either.
            if *width == 0 {
                continue;
            }
            let column = self.columns.get(index).copied().unwrap_or(Column::LAST);
            let start = if end == 0 { 0 } else { end + column.gap };
            if !cell.is_empty() {
                line.pad_to(start);
                line.append(set(cell, *width, column.side));
            }
            end = start + width;
        }
        line
    }
}

/// Sets a cell in its column.
pub fn set(cell: &StyledLine, width: usize, side: Side) -> StyledLine {
    let mut set = StyledLine::new();
    if side == Side::Right {
        set.push(Role::Plain, &spaces(width.saturating_sub(cell.width())));
    }
    set.append(cell.clone());
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        let mut grid = Grid::new(&[Side::Left, Side::Right]);
        grid.row(["日本", "5", "", "x"].map(StyledLine::plain));
        grid.row(["fib-recursive", "12", ""].map(StyledLine::plain));
        let text = grid.render(1, Palette::new(false));
        assert_eq!(text, " 日本            5  x\n fib-recursive  12\n");
    }
}
