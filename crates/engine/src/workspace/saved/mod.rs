//! Saved workspaces: whole ones, and those that are saved as what changed in the layers that they started from.
//!
//! ```text
//! RUN/layers/NAME/                      a layer, once for all trials that start from it
//! RUN/TRIAL/workspace/                  a whole workspace, or
//! RUN/TRIAL/workspace.changes/
//!   changes.json                        the layers, lowest first, and the paths of them that are gone
//!   tree/                               everything that is new or differs, with the directories above it
//! ```
//!
//! | file | |
//! |---|---|
//! | `record` | `changes.json` |
//! | `save` | finds what changed, and moves it |
//! | `restore` | makes the workspace again |
//!
//! A file is the same as in its layer if its permissions, time, length and content are. Content is not read where the
//! kernel vouches for it ([`crate::workspace::changes::Snapshot::is_untouched`]): an agent can set the time of a file back,
//! but not the time at which it did so.
//!
//! Rejected: whiteouts in `tree`, as overlays have them, which need the superuser or take names that an agent may use;
//! an archive, whose content cannot be looked at with other programs.

use camino::{Utf8Path, Utf8PathBuf};

mod record;
pub mod restore;
pub mod save;

/// The directory of a trial with its whole workspace.
pub const WORKSPACE: &str = "workspace";
/// The directory of a trial with the changes in its workspace.
pub const CHANGES: &str = "workspace.changes";
/// The directory in it with everything that is new or differs.
const TREE: &str = "tree";

/// Returns the place of everything that is new or differs in a workspace, from the directory of its trial.
pub fn saved_tree(folder: &Utf8Path) -> Utf8PathBuf {
    folder.join(CHANGES).join(TREE)
}

#[cfg(test)]
mod tests;
