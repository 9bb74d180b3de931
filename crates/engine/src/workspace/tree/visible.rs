//! The files of a suite that agents may see.

use std::path::Path;

/// Returns whether an agent must not see this file of a suite.
///
/// These are `_tests`, `_solution` and `_solution.sh` of an eval, and `.terca`, which has the workspaces of earlier
/// trials.
pub(super) fn is_hidden_from_agents(path: &Path) -> bool {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("_tests" | "_solution" | "_solution.sh") => is_beside_eval(path),
        Some(".terca") => true,
        _ => false,
    }
}

fn is_beside_eval(path: &Path) -> bool {
    path.parent()
        .is_some_and(|dir| dir.join("eval.terca.yaml").exists())
}
