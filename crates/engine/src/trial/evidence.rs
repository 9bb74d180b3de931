//! The evidence of a trial: the hashes of what it left. The end of a trial in the journal has them, so that a file that is
//! changed later is noticed, and is not graded again.
//!
//! Each file is read once, when it has its last place. Holes are not read. `gradings` and `attempts` are no evidence: the
//! first is written by later gradings, and the second has what led to no verdict.

use std::path::Path;

use terca_core::plan::TrialSpec;
use terca_core::run::outcome::Evidence;

use super::context::Context;
use crate::tree::{Dir, Limits, Options, TreeError, hash, hash_file};

/// A trial's folder has about ten entries, and what an agent left as its own artifacts.
const MOST_ENTRIES: u64 = 100_000;
/// The digits of a hash that are kept: 128 bits.
const DIGITS: usize = 32;
const ARTIFACTS: &str = "artifacts";
/// The beginning of the name of a judge's session. A grading that was interrupted leaves it without a word in the journal.
const JUDGES: &str = "artifacts/judge-";

/// Takes the hashes of everything in the folder of a trial of this run.
pub(super) fn take_evidence(spec: &TrialSpec, context: &Context) -> Result<Evidence, TreeError> {
    let folder = Dir::open_no_link(&context.run_dir)?.open_dir(&spec.dir)?;
    evidence(&folder, &context.own_tree(Limits::NONE))
}

/// Takes the hashes of everything in the folder of a trial.
pub(crate) fn evidence(folder: &Dir, options: &Options<'_>) -> Result<Evidence, TreeError> {
    let mut found = Evidence::new();
    for name in folder.names(MOST_ENTRIES)? {
        match name.to_str() {
            Some("gradings" | "attempts") => {}
            Some(ARTIFACTS) if folder.meta_at(&name)?.is_some_and(|meta| meta.is_dir()) => {
                let artifacts = folder.open_dir(&name)?;
                for name in artifacts.names(MOST_ENTRIES)? {
                    let hash = hash_of(&artifacts, Path::new(&name), options)?;
                    found.insert(format!("{ARTIFACTS}/{}", name.display()), hash);
                }
            }
            _ => {
                let hash = hash_of(folder, Path::new(&name), options)?;
                found.insert(name.display().to_string(), hash);
            }
        }
    }
    Ok(found)
}

/// Returns the hash of a file or a tree. Nothing is behind the name of anything else.
fn hash_of(dir: &Dir, name: &Path, options: &Options<'_>) -> Result<String, TreeError> {
    let mut hash = match dir.meta_at(name)? {
        Some(meta) if meta.is_dir() => hash(&dir.open_dir(name)?, options)?,
        Some(meta) if meta.is_file() => hash_file(&dir.open_file(name)?, options)?,
        _ => "neither a file nor a directory".to_owned(),
    };
    hash.truncate(DIGITS);
    Ok(hash)
}

/// Returns the first entry that is not as the journal says, and the reason.
pub(crate) fn difference(journal: &Evidence, found: &Evidence) -> Option<(String, &'static str)> {
    let lost = journal
        .iter()
        .find_map(|(name, hash)| match found.get(name) {
            None => Some((name, "is missing")),
            Some(now) if now != hash => Some((name, "was changed")),
            Some(_) => None,
        });
    let is_added = |name: &&String| !journal.contains_key(*name) && !name.starts_with(JUDGES);
    let added = || Some((found.keys().find(is_added)?, "was added"));
    let (name, reason) = lost.or_else(added)?;
    Some((name.clone(), reason))
}
