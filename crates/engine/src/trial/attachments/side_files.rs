//! Files that an agent leaves beside its output: those that its program always writes, and those that it wants to be
//! kept, in the directory `$TERCA_ARTIFACTS_DIR`.

use std::fs::File;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use globset::GlobBuilder;
use terca_core::agent::SideFile;
use terca_core::text::mask::Mask;
use terca_core::text::prose;

use super::{Attachment, CommandEnd};
use crate::tree::{Dir, Kind, Limits, Options, TreeError, Visit, walk};
use crate::trial::agent_request::AgentDirs;
use crate::trial::output::copy_masked;
use crate::trial::stage_error::StageError;

/// The most entries that are looked at for files beside an agent's output.
const MOST_SIDE_ENTRIES: u64 = 100_000;

/// The files of one agent.
pub(in crate::trial) struct SideFiles {
    pub files: Vec<SideFile>,
    pub dirs: AgentDirs,
    /// The agent has a directory for files that it wants to be kept.
    pub has_own_artifacts: bool,
}

impl Attachment for SideFiles {
    fn detach(self: Box<Self>, end: &mut CommandEnd<'_, '_>) -> Result<(), StageError> {
        let mask = &end.run.context.mask;
        keep_side_files(&self.dirs.artifacts, mask, &self.files)?;
        if self.has_own_artifacts
            && let Some(session) = &mut end.session
        {
            let options = end.run.context.own_tree(Limits::default());
            let remark = keep_own(&self.dirs, mask, &options);
            session.reading.notes.extend(remark);
        }
        Ok(())
    }
}

fn keep_side_files(artifacts: &Utf8Path, mask: &Mask, side_files: &[SideFile]) -> io::Result<()> {
    for side in side_files {
        for (index, path) in side_paths(side).into_iter().enumerate() {
            let name = if index == 0 {
                side.label.to_owned()
            } else {
                format!("{}-{}", index + 1, side.label)
            };
            // The agent may have made it unreadable, which is no reason not to judge its work.
            if let Ok(file) = open_side_file(side, &path) {
                let mut copy = fs_err::File::create(artifacts.join(name))?;
                copy_masked(&file, &mut copy, mask)?;
            }
        }
    }
    Ok(())
}

/// Opens one of the files that match a side file's pattern. By now the agent may have put a link or a pipe in its place,
/// and neither is followed or waited for.
pub(in crate::trial) fn open_side_file(
    side: &SideFile,
    path: &Utf8Path,
) -> Result<File, TreeError> {
    let inside = path.strip_prefix(&side.dir).unwrap_or(path);
    Dir::open_no_link(&side.dir)?.open_file(inside)
}

/// Returns the files that match a side file's pattern at the moment.
pub(in crate::trial) fn side_paths(side: &SideFile) -> Vec<Utf8PathBuf> {
    let Ok(glob) = GlobBuilder::new(side.glob).literal_separator(true).build() else {
        return Vec::new();
    };
    let matcher = glob.compile_matcher();
    let Ok(dir) = Dir::open_no_link(&side.dir) else {
        return Vec::new();
    };
    let options = Options {
        limits: Limits {
            entries: MOST_SIDE_ENTRIES,
            bytes: u64::MAX,
            ..Limits::default()
        },
        // The agent is at work there.
        unlock: false,
        ..Options::default()
    };
    let mut found = Vec::new();
    // A walk that ends early has found something all the same.
    let _ = walk(&dir, &options, &mut |entry, meta| {
        if meta.is_file()
            && matcher.is_match(entry.path)
            && let Some(path) = Utf8Path::from_path(entry.path)
        {
            found.push(side.dir.join(path));
        }
        Ok(Visit::Continue)
    });
    found
}

/// The directory of the trial's artifacts that they are kept in.
const KEPT: &str = "agent";
/// The most bytes and files that are kept.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
const MOST_FILES: u64 = 1_000;

/// Keeps the files, with secrets masked. Links and everything else that is no file are left out. Returns a remark
/// if not
/// all is kept: it is no part of the work, so that trouble with it is no error.
fn keep_own(dirs: &AgentDirs, mask: &Mask, options: &Options<'_>) -> Option<String> {
    let own = dirs.own_artifacts();
    // The agent may have removed the directory, or put something else in its place.
    let root = match Dir::open_no_link(&own) {
        Ok(root) => root,
        Err(_) if own.symlink_metadata().is_err() => return None,
        Err(_) => return Some(remark("it is not a directory any more")),
    };
    let to = dirs.artifacts.join(KEPT);
    let mut found = OwnArtifacts::default();
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
struct OwnArtifacts {
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

impl OwnArtifacts {
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
