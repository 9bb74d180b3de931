//! The runs of a suite in a browser: the pages, and opening one.

mod changes;
mod door;
mod library;
mod opener;
mod search;

pub use door::listen;
pub use library::Library;
pub use opener::open;
