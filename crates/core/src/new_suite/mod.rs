//! New suites: written by `terca init`, made from the tasks of others, or from the history of a repository.

pub mod exercism;
pub mod harbor;
pub mod imported;
pub mod mine;
pub mod promptfoo;
pub mod scaffold;
pub mod swe_bench;
pub mod terminal_bench;
pub mod vally;
