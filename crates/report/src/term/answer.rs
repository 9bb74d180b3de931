//! The answer of a command: tables and sentences, with an empty line between its parts.

use super::grid::Grid;
use super::style::{Palette, Role};
use super::styled_line::StyledLine;
use super::width::{clean, spaces, width};

/// By how much the lines after the first are indented.
pub(crate) const INDENT: usize = 2;
/// Longer lines of prose are hard to read on any screen.
const WIDEST_PROSE: usize = 110;

/// An answer, written from top to bottom.
#[derive(Debug)]
pub(crate) struct Answer {
    columns: usize,
    palette: Palette,
    text: String,
    /// An empty line comes before whatever is added next.
    is_part_over: bool,
}

impl Answer {
    /// Starts an answer for a screen of this width.
    pub(crate) fn new(columns: usize, palette: Palette) -> Self {
        Answer {
            columns,
            palette,
            text: String::new(),
            is_part_over: false,
        }
    }

    /// Ends a part. An empty one leaves no trace.
    pub(crate) fn end_part(&mut self) {
        self.is_part_over = !self.text.is_empty();
    }

    /// Adds a line, cut at the end of the screen.
    pub(crate) fn line(&mut self, line: &StyledLine) {
        let line = line.fit(self.columns).render(self.palette);
        self.add(&format!("{line}\n"));
    }

    /// Adds the first of several tables that fits the screen, or the last one, cut.
    pub(crate) fn table(&mut self, ways: impl IntoIterator<Item = Grid>) {
        if let Some(lines) = fitting(ways, self.columns) {
            lines.iter().for_each(|line| self.line(line));
        }
    }

    /// Adds a sentence.
    pub(crate) fn say(&mut self, role: Role, label: &str, text: &str) {
        self.paragraph((role, label), text, 0);
    }

    /// Adds a sentence about what is above it.
    pub(crate) fn note(&mut self, role: Role, label: &str, text: &str) {
        self.paragraph((role, label), text, INDENT);
    }

    /// Returns the whole text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn paragraph(&mut self, label: (Role, &str), text: &str, indent: usize) {
        let columns = self.columns.min(WIDEST_PROSE);
        self.add(&paragraph(label, text, indent, columns, self.palette));
    }

    fn add(&mut self, text: &str) {
        if std::mem::take(&mut self.is_part_over) {
            self.text.push('\n');
        }
        self.text += text;
    }
}

/// Returns the lines of the first table that fits, or else of the last.
fn fitting(ways: impl IntoIterator<Item = Grid>, columns: usize) -> Option<Vec<StyledLine>> {
    let mut last = None;
    for way in ways {
        let lines = way.lines();
        if lines.iter().all(|line| line.width() <= columns) {
            return Some(lines);
        }
        last = Some(lines);
    }
    last
}

/// Returns words in lines, all but the first indented.
pub(crate) fn paragraph(
    (role, label): (Role, &str),
    text: &str,
    indent: usize,
    columns: usize,
    palette: Palette,
) -> String {
    let mut lines = vec![StyledLine::plain(&spaces(indent)).with(role, label)];
    let text = clean(text);
    for (index, word) in text.split(' ').enumerate() {
        let line = lines.last().map_or(0, StyledLine::width);
        if index > 0 && line + 1 + width(word) > columns {
            lines.push(StyledLine::plain(&spaces(indent + INDENT)).with(Role::Plain, word));
        } else if let Some(line) = lines.last_mut() {
            line.push(Role::Plain, if index > 0 { " " } else { "" });
            line.push(Role::Plain, word);
        }
    }
    lines
        .iter()
        .map(|line| format!("{}\n", line.render(palette)))
        .collect()
}
