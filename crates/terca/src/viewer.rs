//! The runs of a suite in a browser: the pages, and opening one.

mod library;
mod opener;
mod search;

pub use library::Library;
pub use opener::open;
