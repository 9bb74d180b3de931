//! Finds files that were renamed.

use std::cmp::Reverse;
use std::time::Duration;

use similar::TextDiff;

use crate::tree::{Options, TreeError};
use crate::workspace::diff::{Change, Version};

/// The most removed or added files that are compared. With more, each is shown by itself.
const MOST: usize = 200;
/// The similarity of two texts that counts as a rename, as in git.
const ALIKE: f32 = 0.5;
/// The most pairs of texts that are compared line by line.
const MOST_COMPARISONS: usize = 400;
const LARGEST_COMPARED: u64 = 64 * 1024;
const PATIENCE: Duration = Duration::from_millis(10);

/// Joins a removal and an addition that are one rename. The pairs that are most alike come first; of equals, those with
/// the same file name.
pub fn join(mut changes: Vec<Change>, options: &Options<'_>) -> Result<Vec<Change>, TreeError> {
    let numbers = 0..changes.len();
    let went = numbers.clone().filter(|at| changes[*at].after.is_none());
    let came = numbers.filter(|at| changes[*at].before.is_none());
    let (went, came): (Vec<usize>, Vec<usize>) = (went.collect(), came.collect());
    if went.len() > MOST || came.len() > MOST {
        return Ok(changes);
    }
    let compares_lines = went.len() * came.len() <= MOST_COMPARISONS;
    let mut pairs = Vec::new();
    for old in went {
        if options.should_stop.should_stop() {
            return Err(TreeError::Stopped);
        }
        for &new in &came {
            let (one, other) = (&changes[old], &changes[new]);
            if let (Some(before), Some(after)) = (&one.before, &other.after)
                && let Some(similarity) = similarity(before, after, compares_lines, options)?
            {
                let has_same_name = one.path.file_name() == other.path.file_name();
                pairs.push((similarity, has_same_name, Reverse(old), Reverse(new)));
            }
        }
    }
    pairs.sort_unstable();
    for (similarity, _, Reverse(old), Reverse(new)) in pairs.into_iter().rev() {
        if changes[new].before.is_none()
            && let Some(before) = changes[old].before.take()
        {
            changes[new].before = Some(before);
            changes[new].renamed = Some((changes[old].path.clone(), similarity));
        }
    }
    // A removal that became part of a rename is no change of its own.
    changes.retain(|change| change.before.is_some() || change.after.is_some());
    Ok(changes)
}

/// Returns how alike two files are in percent, or `None` if one is not a rename of the other.
fn similarity(
    before: &Version,
    after: &Version,
    compares_lines: bool,
    options: &Options<'_>,
) -> Result<Option<u8>, TreeError> {
    if !before.may_become(after) {
        return Ok(None);
    }
    if before.has_bytes_of(after, options)? {
        return Ok(Some(100));
    }
    let is_small = |version: &Version| version.size().is_some_and(|size| size <= LARGEST_COMPARED);
    if !compares_lines || !is_small(before) || !is_small(after) {
        return Ok(None);
    }
    match (before.text(), after.text()) {
        (Some(before), Some(after)) => Ok(likeness(&before, &after)),
        _ => Ok(None),
    }
}

fn likeness(old: &str, new: &str) -> Option<u8> {
    // Sizes that differ too much rule it out without a look.
    let small = old.len().min(new.len());
    let large = old.len().max(new.len());
    if small * 3 < large || small == 0 {
        return None;
    }
    let ratio = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(old, new)
        .ratio();
    (ratio >= ALIKE).then_some((ratio * 100.0).min(99.0) as u8)
}
