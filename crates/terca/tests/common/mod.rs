//! What the tests of the program share.

pub mod completion;
pub mod endings;
pub mod example;
pub mod gallery;
pub mod history;
pub mod hostile_tree;
pub mod libraries;
pub mod mcp;
pub mod proof;
pub mod sandboxes;
pub mod viewer;

use terca_testkit::Project;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_terca");

/// An empty project for the program under test.
pub fn project() -> Project {
    Project::new(PROGRAM)
}
