//! Rows of cells, aligned. No borders: space separates well enough, and copies better.

use super::style::Role;
use super::styled_line::{StyledLine, bold};
use super::width::spaces;

const GAP: usize = 2;

/// The edge of its column that a cell is set to.
#[derive(Clone, Copy, PartialEq)]
pub enum Side {
    Left,
    Right,
}

/// Cells in rows. A column is as wide as its widest cell.
#[derive(Clone, Default)]
pub struct Grid {
    /// The side of each column, and the space before it. Further ones are set left.
    pub columns: Vec<(Side, usize)>,
    rows: Vec<Row>,
}

#[derive(Clone)]
enum Row {
    Cells(Vec<StyledLine>),
    /// A line across all columns.
    Line(StyledLine),
    /// A rule as wide as the widest other row.
    Rule,
}

impl Grid {
    /// Columns with titles.
    pub fn titled<'a>(columns: impl IntoIterator<Item = (&'a str, Side)>) -> Self {
        let columns = columns.into_iter();
        Grid::headed(columns.map(|(title, side)| (bold(title), side)))
    }

    /// Columns with titles in roles of their own.
    pub fn headed(columns: impl IntoIterator<Item = (StyledLine, Side)>) -> Self {
        let columns = columns
            .into_iter()
            .map(|(title, side)| (title, (side, GAP)));
        let (titles, columns) = columns.unzip();
        Grid {
            columns,
            rows: vec![Row::Cells(titles)],
        }
    }

    /// Adds a row.
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
        let line = |row: &Row| match row {
            Row::Cells(cells) => self.aligned(cells, &widths),
            Row::Line(line) => line.clone(),
            Row::Rule => StyledLine::default(),
        };
        let mut lines: Vec<StyledLine> = self.rows.iter().map(line).collect();
        let widest = lines.iter().map(StyledLine::width).max().unwrap_or(0);
        for (line, row) in lines.iter_mut().zip(&self.rows) {
            if matches!(row, Row::Rule) {
                line.push(Role::Dim, &"─".repeat(widest));
            }
        }
        lines
    }

    /// Returns the table with these of its columns. A row that is empty then is left out.
    pub fn only(&self, is_kept: impl Fn(usize) -> bool) -> Grid {
        let mut grid = self.clone();
        grid.rows.retain_mut(|row| {
            let Row::Cells(cells) = row else { return true };
            for (index, cell) in cells.iter_mut().enumerate() {
                if !is_kept(index) {
                    *cell = StyledLine::default();
                }
            }
            cells.iter().any(|cell| !cell.is_empty())
        });
        grid
    }

    /// Divides the columns so that each table fits the screen: the labels, and as many groups of so many columns as
    /// there is room for, but at least one.
    pub fn panels(&self, labels: usize, group: usize, columns: usize) -> Vec<Grid> {
        let panel = |first: usize, end: usize| {
            self.only(|index| index < labels || (first..end).contains(&index))
        };
        let last = self.widths().len();
        let mut panels = Vec::new();
        let mut first = labels;
        while first < last {
            let mut end = first + group;
            while end < last && panel(first, end + group).fits(columns) {
                end += group;
            }
            panels.push(panel(first, end));
            first = end;
        }
        panels
    }

    /// Returns whether no line is wider than the screen.
    pub fn fits(&self, columns: usize) -> bool {
        self.lines().iter().all(|line| line.width() <= columns)
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
        let mut line = StyledLine::default();
        let mut end = 0;
        for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
            // A column that is empty in every row takes no gap either.
            if *width == 0 {
                continue;
            }
            let column = self.columns.get(index).copied();
            let (side, gap) = column.unwrap_or((Side::Left, GAP));
            let start = if end == 0 { 0 } else { end + gap };
            if !cell.is_empty() {
                line.pad_to(start);
                line.append(set(cell, *width, side));
            }
            end = start + width;
        }
        line
    }
}

/// Sets a cell in its column.
pub fn set(cell: &StyledLine, width: usize, side: Side) -> StyledLine {
    let mut set = StyledLine::default();
    if side == Side::Right {
        set.push(Role::Plain, &spaces(width.saturating_sub(cell.width())));
    }
    set.append(cell.clone());
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Answer, Palette, plain};

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        let mut grid = Grid {
            columns: vec![(Side::Left, GAP), (Side::Right, GAP)],
            ..Grid::default()
        };
        grid.row(["日本", "5", "", "x"].map(plain));
        grid.row(["fib-recursive", "12", ""].map(plain));
        let mut answer = Answer::new(80);
        answer.whole_table(&grid, 1);
        let text = answer.render(Palette::new(false));
        assert_eq!(text, " 日本            5  x\n fib-recursive  12\n");
    }
}
