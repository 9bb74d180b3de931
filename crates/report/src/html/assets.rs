//! The style and the script that every page carries, and the two kinds of pages.

pub(super) const STYLE: &str = include_str!("style.css");
pub(super) const SCRIPT: &str = include_str!("script.js");

/// The place a page is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file that contains everything.
    File,
    /// A server that has more, and announces changes.
    Served,
}
