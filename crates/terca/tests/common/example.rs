//! The examples that stand in the repository.

use camino::{Utf8Path, Utf8PathBuf};
use terca_testkit::Project;

use crate::common::project;

pub fn examples() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A copy of an example, without the runs that somebody may have made in it.
pub fn example(name: &str) -> Project {
    let project = project();
    let from = examples().join(name).join(".");
    let output = std::process::Command::new("cp")
        .args(["-a", from.as_str(), project.dir().as_str()])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let _ = std::fs::remove_dir_all(project.path(".terca"));
    project
}
