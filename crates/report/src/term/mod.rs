//! Text on a terminal: cleaned, measured, aligned and coloured.
//!
//! Text flows one way: foreign text enters a [`styled_line::StyledLine`] and is cleaned there; it is measured, aligned
//! and cut as text; colour and the cursor's movements are added last. So no name, message or agent can garble a
//! terminal, and everything but the painter can be tested by looking at strings.

pub(crate) mod answer;
pub(crate) mod door;
pub(crate) mod grid;
pub(crate) mod painter;
pub(crate) mod size;
pub(crate) mod style;
pub(crate) mod styled_line;
pub(crate) mod width;

#[cfg(test)]
pub(crate) mod screen;
