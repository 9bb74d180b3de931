//! Rows of cells, aligned. No borders: space separates well enough, and copies better.

use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;
use crate::term::width::spaces;

const GAP: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// Cells in rows; a column is as wide as its widest cell.
#[derive(Debug, Clone)]
pub struct Grid {
    sides: Vec<Side>,
    rows: Vec<Vec<StyledLine>>,
}

impl Grid {
    pub fn new(sides: &[Side]) -> Self {
        Grid {
            sides: sides.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Cells without a side of their own, at the end, are set left.
    pub fn row(&mut self, cells: impl IntoIterator<Item = StyledLine>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub fn lines(&self) -> Vec<StyledLine> {
        let widths = self.widths();
        self.rows
            .iter()
            .map(|row| self.line(row, &widths))
            .collect()
    }

    /// The rows, each indented and ended by a line feed.
    pub fn render(&self, indent: usize, palette: Palette) -> String {
        self.lines()
            .iter()
            .map(|line| format!("{}{}\n", spaces(indent), line.render(palette)))
            .collect()
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        (0..columns)
            .map(|column| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(StyledLine::width)
                    .max()
                    .unwrap_or(0)
            })
            .collect()
    }

    fn line(&self, row: &[StyledLine], widths: &[usize]) -> StyledLine {
        let mut line = StyledLine::new();
        let mut start = 0;
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let side = self.sides.get(column).copied().unwrap_or(Side::Left);
            if !cell.is_empty() {
                line.pad_to(start);
                line.append(set(cell, *width, side));
            }
            // A column that is empty in every row takes no gap either.
            start += if *width == 0 { 0 } else { width + GAP };
        }
        line
    }
}

/// A cell in its column.
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
