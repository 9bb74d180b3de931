//! A run while it goes on: a display in a terminal, or plain lines.

mod bar;
pub(crate) mod eta;
mod frame;
mod layout;
mod notices;
pub(crate) mod plain;
pub(crate) mod time_limits;
mod trial_line;
pub(crate) mod tty;
