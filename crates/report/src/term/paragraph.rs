//! Prose in lines.

use super::style::{Palette, Role};
use super::styled_line::StyledLine;
use super::width::{clean, spaces, width};

/// By how much the lines after the first are indented.
pub(crate) const INDENT: usize = 2;
/// Longer lines of prose are hard to read on any screen.
pub(crate) const WIDEST_PROSE: usize = 110;

/// Words in lines, all but the first indented.
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
