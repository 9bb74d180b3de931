//! The files of a suite that agents may see.

use crate::tree::{Copied, Dir, Entry, Options, TreeError, copy};

/// Copies a part of a suite that an agent will see: hidden tests, solutions and earlier runs are left out.
/// `note` gets each entry before it is copied, and may refuse it.
pub fn copy_visible(
    from: &Dir,
    to: &Dir,
    options: &Options<'_>,
    note: &mut dyn FnMut(&Entry<'_>) -> Result<(), TreeError>,
) -> Result<Copied, TreeError> {
    copy(from, to, options, &mut |entry| {
        if is_hidden_from_agents(entry)? {
            return Ok(false);
        }
        note(entry)?;
        Ok(true)
    })
}

/// Returns whether an agent must not see this file of a suite.
///
/// These are `_tests`, `_solution` and `_solution.sh` of an eval, and `.terca`, which has the workspaces of earlier
/// trials.
fn is_hidden_from_agents(entry: &Entry<'_>) -> Result<bool, TreeError> {
    match entry.name.to_str() {
        Some("_tests" | "_solution" | "_solution.sh") => {
            Ok(entry.parent.meta_at("eval.terca.yaml")?.is_some())
        }
        Some(".terca") => Ok(true),
        _ => Ok(false),
    }
}
