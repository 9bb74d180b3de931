//! The runs of a suite in a browser: the pages, and opening one.

mod address;
mod changes;
mod library;
mod opener;
mod search;

pub use address::listen;
pub use library::Library;
pub use opener::open;
