//! Files that an agent wants to be kept, in the directory `$TERCA_ARTIFACTS_DIR`.

use std::io;

use terca_core::text::mask::Mask;
use terca_core::text::prose;

use super::agent_dirs::AgentDirs;
use crate::tree::{Dir, Kind, Options, Visit, walk};
use crate::trial::output::copy_masked;

/// The directory of the trial's artifacts that they are kept in.
const KEPT: &str = "agent";
/// The most bytes and files that are kept.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
const MOST_FILES: u64 = 1_000;

/// Keeps the files, with secrets masked. Links and everything else that is no file are left out. Returns a remark
/// if not
/// all is kept: it is no part of the work, so that trouble with it is no error.
pub(super) fn keep(dirs: &AgentDirs, mask: &Mask, options: &Options<'_>) -> Option<String> {
    let own = dirs.own_artifacts();
    // The agent may have removed the directory, or put something else in its place.
    let root = match Dir::open_no_link(&own) {
        Ok(root) => root,
        Err(_) if own.symlink_metadata().is_err() => return None,
        Err(_) => return Some(remark("it is not a directory any more")),
    };
    let to = dirs.artifacts.join(KEPT);
    let mut found = Found::default();
    let walked = walk(&root, options, &mut |entry, meta| {
        match meta.kind {
            Kind::Dir => return Ok(Visit::Continue),
            Kind::File => {}
            _ => {
                found.others += 1;
                return Ok(Visit::Continue);
            }
        }
        if found.files == MOST_FILES {
            found.is_cut = true;
            return Ok(Visit::End);
        }
        // A file that is too large leaves room for those after it.
        if found.bytes.saturating_add(meta.size) > MOST_BYTES {
            found.is_cut = true;
            return Ok(Visit::Continue);
        }
        found.files += 1;
        found.bytes += meta.size;
        let place = to.join(mask.text(&entry.path.to_string_lossy()));
        let copied = match (entry.open(), place.parent()) {
            (Ok(file), Some(parent)) => fs_err::create_dir_all(parent)
                .and_then(|()| fs_err::File::create(&place))
                .and_then(|mut copy| copy_masked(&file, &mut copy, mask)),
            (Ok(_), None) => Ok(()),
            (Err(error), _) => Err(io::Error::other(error.to_string())),
        };
        if let Err(error) = copied {
            found.troubles += 1;
            // Its kind alone: an agent chooses the path, and may make it as long as it likes.
            found.trouble.get_or_insert(error.kind());
        }
        Ok(Visit::Continue)
    });
    match walked {
        Ok(_) => found.remark(),
        Err(error) => Some(remark(&error.to_string())),
    }
}

/// The things that were found in the directory.
#[derive(Default)]
struct Found {
    bytes: u64,
    files: u64,
    /// Tells whether there was more than is kept.
    is_cut: bool,
    /// Links, pipes and the like.
    others: u64,
    /// Files that could not be copied, and why the first could not.
    troubles: u64,
    trouble: Option<io::ErrorKind>,
}

impl Found {
    fn remark(&self) -> Option<String> {
        let mut reasons = Vec::new();
        if self.is_cut {
            let mebibytes = MOST_BYTES / (1024 * 1024);
            reasons.push(format!(
                "at most {MOST_FILES} files and {mebibytes} MiB are"
            ));
        }
        if self.others > 0 {
            reasons.push(format!(
                "links, pipes and the like are not ({})",
                self.others
            ));
        }
        if let Some(kind) = self.trouble {
            reasons.push(format!("{} could not be copied ({kind})", self.troubles));
        }
        (!reasons.is_empty()).then(|| remark(&prose::list(&reasons, "and")))
    }
}

fn remark(reason: &str) -> String {
    format!("not all files in $TERCA_ARTIFACTS_DIR were kept: {reason}")
}
