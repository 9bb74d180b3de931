//! A line of text whose parts have tones.
//!
//! Escape sequences enter at the very last moment, in [`StyledLine::render`]; until then a line can be measured, padded
//! and cut like plain text. Everything that is pushed is cleaned, so no view can forget to.

use super::style::{Palette, Role};
use super::width;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StyledLine {
    parts: Vec<(Role, String)>,
}

/// Returns a line in one role.
pub fn styled(role: Role, text: &str) -> StyledLine {
    StyledLine::default().with(role, text)
}

/// Returns a line without any colour.
pub fn plain(text: &str) -> StyledLine {
    styled(Role::Plain, text)
}

/// Returns a line that is less important than its neighbours.
pub fn dim(text: &str) -> StyledLine {
    styled(Role::Dim, text)
}

/// Returns a heading.
pub fn bold(text: &str) -> StyledLine {
    styled(Role::Bold, text)
}

impl StyledLine {
    /// Adds text without any colour.
    #[must_use]
    pub fn plain(self, text: &str) -> Self {
        self.with(Role::Plain, text)
    }

    #[must_use]
    pub fn with(mut self, role: Role, text: &str) -> Self {
        self.push(role, text);
        self
    }

    pub fn push(&mut self, role: Role, text: &str) {
        if !text.is_empty() {
            self.parts.push((role, width::clean(text).into_owned()));
        }
    }

    pub fn append(&mut self, other: StyledLine) {
        self.parts.extend(other.parts);
    }

    /// Spaces up to a column, so that what follows is aligned.
    pub fn pad_to(&mut self, columns: usize) {
        self.push(
            Role::Plain,
            &width::spaces(columns.saturating_sub(self.width())),
        );
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub fn width(&self) -> usize {
        self.parts.iter().map(|(_, text)| width::width(text)).sum()
    }

    /// The line in at most `columns`; what is cut off is marked by `…`.
    #[must_use]
    pub fn fit(&self, columns: usize) -> StyledLine {
        if self.width() <= columns {
            return self.clone();
        }
        let mut cut = StyledLine::default();
        let mut left = columns;
        for (role, text) in &self.parts {
            let needed = width::width(text);
            if needed >= left {
                // Even a part that just fits gives up a column: more is coming, and the mark must say so.
                let marked = format!("{text}{}", width::ELLIPSIS);
                cut.push(*role, &width::truncate(&marked, left));
                break;
            }
            left -= needed;
            cut.push(*role, text);
        }
        cut
    }

    pub fn render(&self, palette: Palette) -> String {
        let parts = self.parts.iter();
        let painted = parts.map(|(role, text)| palette.paint(*role, text));
        painted.collect::<String>().trim_end_matches(' ').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> StyledLine {
        styled(Role::Good, "✓ 1.00")
            .plain("  fib")
            .with(Role::Dim, "  41s")
    }

    #[test]
    fn a_line_is_cut_by_columns_and_not_by_bytes() {
        for (columns, text) in [
            (20, "✓ 1.00  fib  41s"),
            (16, "✓ 1.00  fib  41s"),
            (15, "✓ 1.00  fib  4…"),
            (11, "✓ 1.00  fi…"),
            (6, "✓ 1.0…"),
            (1, "…"),
            (0, ""),
        ] {
            assert_eq!(
                line().fit(columns).render(Palette::new(false)),
                text,
                "{columns}"
            );
        }
    }

    #[test]
    fn escape_sequences_are_ours_alone() {
        let hostile = styled(Role::Bad, "a\u{1b}[2J\nb");
        assert_eq!(hostile.render(Palette::new(false)), "a␛[2J b");
        assert_eq!(
            hostile.render(Palette::new(true)),
            "\u{1b}[31ma␛[2J b\u{1b}[0m"
        );
    }
}
