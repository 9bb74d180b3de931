//! The runs of a suite in a browser: the pages, and opening one.

mod library;
mod opener;

pub use library::Library;
pub use opener::open;
