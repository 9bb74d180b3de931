//! The answer of a command: tables and sentences, with an empty line between its parts.

use super::grid::Grid;
use super::style::{Palette, Role};
use super::styled_line::{StyledLine, plain};
use super::width::{clean, spaces, width};

/// By how much the lines after the first are indented.
const INDENT: usize = 2;
/// Longer lines of prose are hard to read on any screen.
const WIDEST_PROSE: usize = 110;

/// An answer, written from top to bottom.
#[derive(Debug)]
pub struct Answer {
    columns: usize,
    lines: Vec<StyledLine>,
    /// An empty line comes before whatever is added next.
    is_part_over: bool,
}

impl Answer {
    /// Starts an answer for a screen of this width.
    pub(crate) fn new(columns: usize) -> Self {
        Answer {
            columns,
            lines: Vec::new(),
            is_part_over: false,
        }
    }

    /// Ends a part. An empty one leaves no trace.
    pub(crate) fn end_part(&mut self) {
        self.is_part_over = !self.is_empty();
    }

    /// Adds a line as it is.
    pub(crate) fn line(&mut self, line: StyledLine) {
        if std::mem::take(&mut self.is_part_over) {
            self.lines.push(StyledLine::default());
        }
        self.lines.push(line);
    }

    /// Adds a line, cut at the end of the screen.
    pub(crate) fn cut_line(&mut self, line: &StyledLine) {
        self.line(line.fit(self.columns));
    }

    /// Adds a table as it is.
    pub(crate) fn whole_table(&mut self, table: &Grid, indent: usize) {
        for line in table.lines() {
            let mut indented = plain(&spaces(indent));
            indented.append(line);
            self.line(indented);
        }
    }

    /// Adds tables as they are, each a part of its own.
    pub(crate) fn panels(&mut self, panels: &[Grid]) {
        for panel in panels {
            self.end_part();
            self.whole_table(panel, 0);
        }
    }

    /// Adds the first of several tables that fits the screen, or the last one, cut.
    pub(crate) fn table(&mut self, ways: impl IntoIterator<Item = Grid>) {
        let mut chosen = Vec::new();
        for way in ways {
            chosen = way.lines();
            if chosen.iter().all(|line| line.width() <= self.columns) {
                break;
            }
        }
        chosen.iter().for_each(|line| self.cut_line(line));
    }

    /// Adds a sentence.
    pub(crate) fn say(&mut self, role: Role, label: &str, text: &str) {
        self.prose((role, label), text, 0);
    }

    /// Adds a sentence about what is above it.
    pub(crate) fn note(&mut self, role: Role, label: &str, text: &str) {
        self.prose((role, label), text, INDENT);
    }

    fn prose(&mut self, label: (Role, &str), text: &str, indent: usize) {
        let columns = self.columns;
        self.columns = columns.min(WIDEST_PROSE);
        self.paragraph(label, text, indent);
        self.columns = columns;
    }

    /// Adds words in lines as wide as the screen, all but the first indented further. A sign stays with its number.
    pub(crate) fn paragraph(&mut self, (role, label): (Role, &str), text: &str, indent: usize) {
        let mut line = plain(&spaces(indent)).with(role, label);
        let text = (clean(text).replace(" %", "\u{a0}%")).replace(" ×", "\u{a0}×");
        for (index, word) in text.split(' ').enumerate() {
            let word = &word.replace('\u{a0}', " ");
            if index > 0 && line.width() + 1 + width(word) > self.columns {
                let next = plain(&spaces(indent + INDENT)).plain(word);
                self.line(std::mem::replace(&mut line, next));
            } else {
                line = line.plain(if index > 0 { " " } else { "" }).plain(word);
            }
        }
        self.line(line);
    }

    /// Adds the lines of another answer.
    pub(crate) fn append(&mut self, other: Answer) {
        other.lines.into_iter().for_each(|line| self.line(line));
    }

    /// Returns whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the text, each line with its end.
    pub fn render(&self, palette: Palette) -> String {
        self.lines
            .iter()
            .map(|line| line.render(palette) + "\n")
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_stays_with_its_number() {
        let mut answer = Answer::new(12);
        answer.paragraph(
            (Role::Plain, ""),
            "passed in 25 % of all at 1.5 × the cost",
            0,
        );
        let text = answer.render(Palette::new(false));
        assert_eq!(
            text,
            "passed in\n  25 % of\n  all at\n  1.5 × the\n  cost\n"
        );
    }
}
