//! Files that an agent wants to be kept, in the directory `$TERCA_ARTIFACTS_DIR`.

use std::io;

use terca_core::text::mask::Mask;

use super::agent_dirs::AgentDirs;
use crate::tree::{Dir, Kind, Options, TreeError, Visit, walk};
use crate::trial::masking::copy_masked;

/// The directory of the trial's artifacts that they are kept in.
const KEPT: &str = "agent";
/// The most bytes and files that are kept.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
const MOST_FILES: u64 = 1_000;

/// Keeps the files, with secrets masked. Links and everything else that is no file are left out. Returns a remark if not
/// all files are kept: they are no part of the work, so that trouble with them is no error.
pub(super) fn keep(dirs: &AgentDirs, mask: &Mask, options: &Options<'_>) -> Option<String> {
    let to = dirs.artifacts.join(KEPT);
    let mut bytes: u64 = 0;
    let mut files = 0;
    let mut is_cut = false;
    // The agent may have removed the directory, or put a link in its place.
    let root = Dir::open_no_link(dirs.own_artifacts()).ok()?;
    let walked = walk(&root, options, &mut |entry, meta| {
        if meta.kind != Kind::File {
            return Ok(Visit::Continue);
        }
        files += 1;
        bytes = bytes.saturating_add(meta.size);
        if bytes > MOST_BYTES || files > MOST_FILES {
            is_cut = true;
            return Ok(Visit::End);
        }
        let file = entry.open()?;
        let name = mask.text(&entry.path.to_string_lossy());
        let place = to.join(name);
        let kept = match place.parent() {
            Some(parent) => fs_err::create_dir_all(parent),
            None => Ok(()),
        };
        kept.and_then(|()| copy_masked(&file, &place, mask))
            .map_err(|error: io::Error| TreeError::io(&to, error))?;
        Ok(Visit::Continue)
    });
    match walked {
        Ok(_) if is_cut => Some(format!(
            "not all files in $TERCA_ARTIFACTS_DIR were kept: at most {MOST_FILES} files and {} MiB are",
            MOST_BYTES / (1024 * 1024)
        )),
        Ok(_) => None,
        Err(error) => Some(format!(
            "not all files in $TERCA_ARTIFACTS_DIR were kept: {error}"
        )),
    }
}
