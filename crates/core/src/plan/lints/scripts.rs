//! Finds scripts of tests that the shell cannot start.

use camino::{Utf8Path, Utf8PathBuf};

use crate::grade::{Question, script_paths_named};
use crate::plan::{Case, Layer};
use crate::reader::{PathKind, Surroundings};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;

/// Warns of each script that a test calls as a program and that is not executable. It would fail the agent.
pub(super) fn check(case: &Case, surroundings: &dyn Surroundings) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for test in &case.eval.tests {
        let Question::Command { command, .. } = test.question() else {
            continue;
        };
        if command.contains("chmod") {
            continue;
        }
        for path in script_paths_named(command) {
            let path = path.strip_prefix("./").unwrap_or(path);
            let Some(file) = file_of(case, path, surroundings) else {
                continue;
            };
            if !surroundings.is_executable(&file) {
                let shown = file.strip_prefix(&case.suite.root).unwrap_or(&file);
                let message = format!("`./{path}` cannot be started: {shown} is not executable");
                found.push(
                    Diagnostic::warning(Code::NotExecutable, message)
                        .at(test.place, "this test would fail every agent")
                        .help(format!("`chmod +x {shown}`, or call it as `sh {path}`")),
                );
            }
        }
    }
    found
}

/// Returns the file of the suite that a test finds at a path of the workspace. An agent may change those of `_base`
/// if it is asked to.
fn file_of(case: &Case, path: &Utf8Path, surroundings: &dyn Surroundings) -> Option<Utf8PathBuf> {
    let is_file = |path: &Utf8PathBuf| surroundings.kind(path) == PathKind::File;
    let mut hidden = case.eval.tests_layer.iter().map(|dir| dir.join(path));
    if let Some(file) = hidden.find(is_file) {
        return Some(file);
    }
    let name = path.file_name()?;
    let is_plain = case.actions.is_empty() && case.variant.command.is_none();
    let is_prepared = case
        .layers
        .iter()
        .any(|layer| matches!(layer, Layer::Prepared(_)));
    if !is_plain || is_prepared || case.prompt.contains(name) {
        return None;
    }
    let layers = Layer::directories(&case.layers).into_iter().rev();
    let mut files = layers.map(|dir| dir.join(path));
    files.find(is_file)
}
