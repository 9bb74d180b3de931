//! Looks for keys that the agent has written into its workspace, which is kept as it is.

use std::io::{self, Read};

use camino::Utf8Path;
use terca_core::text::mask::Mask;
use terca_core::text::prose;

use crate::tree::Dir;

/// The most changed files that are looked at, and the most bytes of them.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// The most files that are named.
const NAMED: usize = 5;
const CHUNK: usize = 256 * 1024;

/// Returns a remark that names the changed files with a key in them, if there are any.
pub(super) fn note(workspace: &Utf8Path, changed: &[String], mask: &Mask) -> Option<String> {
    if mask.is_empty() {
        return None;
    }
    let workspace = Dir::open_no_link(workspace).ok()?;
    let mut left = MOST_BYTES;
    let mut found = Vec::new();
    for path in changed.iter().take(MOST_FILES) {
        // A file that is gone, is a link or cannot be read has no key that the run keeps.
        if let Ok(file) = workspace.open_file(path)
            && has_key(file, &mut left, mask).unwrap_or(false)
        {
            found.push(format!("`{path}`"));
        }
    }
    if found.is_empty() {
        return None;
    }
    let more = found.len().saturating_sub(NAMED);
    found.truncate(NAMED);
    if more > 0 {
        found.push(prose::count(more, "more file"));
    }
    Some(format!(
        "the agent wrote one of its keys into its workspace, which is kept unchanged: {}",
        prose::list(&found, "and")
    ))
}

/// Returns whether a file has a key in it, and takes what is read from a budget.
fn has_key(file: std::fs::File, budget: &mut u64, mask: &Mask) -> io::Result<bool> {
    let mut file = file.take(*budget);
    let mut held = Vec::new();
    loop {
        let carried = held.len();
        let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut held)?;
        *budget -= read as u64;
        if read == 0 {
            return Ok(false);
        }
        if mask.has_key(&held) {
            return Ok(true);
        }
        let overlap = mask.overlap().min(carried + read);
        held.drain(..held.len() - overlap);
    }
}
