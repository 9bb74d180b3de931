//! The keys that are heard while a run goes on.

use crate::term::style::Role;
use crate::term::styled_line::StyledLine;

/// A key that changes what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Prints what each running trial does.
    Info,
    /// Opens the log of a trial, or closes it.
    Log,
    /// Shows the log of the next trial.
    Next,
    /// Shows the log of the trial before.
    Previous,
    /// Shows the log of the trial with this number, from 1.
    Number(usize),
    /// Closes the log.
    Close,
    /// Prints the list of keys.
    Help,
}

/// Returns the line that names the keys.
pub fn hint(is_log_open: bool) -> StyledLine {
    StyledLine::of(
        Role::Dim,
        match is_log_open {
            true => "n next · p previous · l close · i info · q stop",
            false => "i info · l log · q stop",
        },
    )
}

/// Returns the list of keys.
pub fn help() -> StyledLine {
    StyledLine::of(
        Role::Dim,
        "keys: i info · l log (n, p, 1-9 another; l, Esc close) · q stop, qq at once",
    )
}
