//! What every page carries with it, and where it is read.

pub(super) const STYLE: &str = include_str!("style.css");
pub(super) const SCRIPT: &str = include_str!("script.js");

/// Where a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file with everything in it.
    File,
    /// From a server that has more, and tells what is new.
    Served,
}
