//! What every test of the program begins with.

use terca_testkit::Project;

/// An empty project for the program under test.
pub fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_terca"))
}
