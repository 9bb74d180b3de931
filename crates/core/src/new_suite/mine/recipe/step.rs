//! A command of the setup, and the files that it needs.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::within;

/// A command that runs once, before all trials, as `prepare` has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The command.
    pub command: String,
    /// The files that it runs with; empty for all of them. Evals in which they are equal share its result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only_files: Vec<Utf8PathBuf>,
}

impl Step {
    /// Returns a step that runs with all files.
    pub fn new(command: impl Into<String>) -> Self {
        Step {
            command: command.into(),
            only_files: Vec::new(),
        }
    }

    /// Returns a step in a directory of the project.
    pub(super) fn within(dir: &Utf8Path, command: &str) -> Self {
        Step::new(within(dir, command))
    }

    /// Returns the step with a few files.
    pub(super) fn with_only(self, files: impl IntoIterator<Item = Utf8PathBuf>) -> Self {
        Step {
            only_files: files.into_iter().collect(),
            ..self
        }
    }
}
