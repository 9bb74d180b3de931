//! Text on a terminal: cleaned, measured, aligned and coloured.
//!
//! Text flows one way: foreign text enters a [`StyledLine`] and is cleaned there; it is measured, aligned
//! and cut as text; colour and the cursor's movements are added last. So no name, message or agent can garble a
//! terminal, and everything but the painter can be tested by looking at strings.

mod answer;
mod grid;
pub(crate) mod painter;
mod printable;
mod size;
mod style;
mod styled_line;
mod width;

#[cfg(test)]
pub(crate) mod screen;

pub use answer::Answer;
pub(crate) use grid::{Grid, Side, set};
pub use printable::{Filtered, shown, shown_json, shown_painted};
pub use size::{Size, UNLIMITED};
pub use style::{Palette, Role};
pub(crate) use styled_line::{StyledLine, bold, dim, plain, styled};
pub(crate) use width::{clean, pad, pad_left, shorten, spaces, visible, width};
pub use width::{truncate, wrap};
