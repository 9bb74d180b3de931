//! Suites on disk: finding them, making new ones, importing tasks.

pub mod create;
pub mod discover;
pub mod harbor;
