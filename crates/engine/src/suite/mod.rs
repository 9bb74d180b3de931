//! Suites on disk: finding them, making new ones, importing tasks.

pub mod commit;
pub mod create;
pub mod discover;
mod find_evals;
pub mod import;
pub mod locate;
