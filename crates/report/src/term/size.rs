//! The size of the terminal.

/// A terminal's size in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

impl Size {
    pub const FALLBACK: Size = Size {
        columns: 80,
        rows: 24,
    };

    /// Of the terminal that standard error or standard output goes to.
    pub fn of_terminal() -> Self {
        let found = terminal_size::terminal_size_of(std::io::stderr())
            .or_else(|| terminal_size::terminal_size_of(std::io::stdout()));
        match found {
            Some((columns, rows)) if columns.0 > 0 && rows.0 > 0 => Size {
                columns: usize::from(columns.0),
                rows: usize::from(rows.0),
            },
            _ => Size::FALLBACK,
        }
    }

    /// The last column stays empty: a character there makes some terminals wrap at the next one.
    pub(crate) fn usable_columns(self) -> usize {
        self.columns.saturating_sub(1)
    }
}

/// The width of lines in a file or a pipe, where nothing is cut.
pub const UNLIMITED: usize = usize::MAX;
