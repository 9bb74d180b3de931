//! Saved workspaces: whole ones, and those that are saved as what changed in the layers that they started from.
//!
//! ```text
//! .terca/layers/NAME/                   a layer, once for all trials of all runs that start from it
//! RUN/TRIAL/workspace/                  a whole workspace, or
//! RUN/TRIAL/workspace.changes/
//!   changes.json                        the layers, lowest first, and the paths of them that are gone
//!   tree/                               everything that is new or differs, with the directories above it
//! ```
//!
//! | file | |
//! |---|---|
//! | `save` | finds what changed, and moves it |
//! | `restore` | makes the workspace again |
//!
//! A file is the same as in its layer if its permissions, time, length and content are. Content is not read where the
//! kernel vouches for it ([`crate::workspace::changes::Snapshot::is_untouched`]): an agent can set the time of a file back,
//! but not the time at which it did so.
//!
//! Rejected: whiteouts in `tree`, as overlays have them, which need the superuser or take names that an agent may use;
//! an archive, whose content cannot be looked at with other programs.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

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

/// The name of the file that tells the layers, and the paths of them that are gone.
const RECORD: &str = "changes.json";
/// The version of the format.
const VERSION: u32 = 1;

/// The content of `changes.json`.
///
/// A path may have bytes that are no text. In the file each such byte is `%` and two hexadecimal digits, and so is `%`
/// itself.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// The version of the format.
    version: u32,
    /// The names of the layers that the workspace started from, lowest first.
    layers: Vec<String>,
    /// The paths of the layers that are not in the workspace, with everything below them.
    removed: Vec<String>,
}

/// Writes a path as text.
fn text_of(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

/// Reads a path from text.
fn path_of(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests;
