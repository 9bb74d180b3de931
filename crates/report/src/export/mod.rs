//! Runs for other programs: JUnit, Markdown, CSV, JSON Lines, and GitHub Actions.

pub(crate) mod csv;
pub mod github;
pub(crate) mod jsonl;
pub(crate) mod junit;
pub(crate) mod markdown;
mod markdown_text;
pub(crate) mod trial_rows;
