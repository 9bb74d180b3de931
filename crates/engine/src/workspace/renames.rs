//! Finds files that were renamed.

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

/// Joins a removal and an addition that are one rename.
pub fn join(mut changes: Vec<Change>, options: &Options<'_>) -> Result<Vec<Change>, TreeError> {
    let went: Vec<usize> = positions(&changes, |change| change.after.is_none());
    let came: Vec<usize> = positions(&changes, |change| change.before.is_none());
    if went.is_empty() || came.is_empty() || went.len() > MOST || came.len() > MOST {
        return Ok(changes);
    }
    let mut taken = vec![false; changes.len()];
    let few = went.len() * came.len() <= MOST_COMPARISONS;
    for exact in [true, false].into_iter().filter(|exact| *exact || few) {
        for &old in &went {
            if taken[old] {
                continue;
            }
            let free = came.iter().copied().filter(|new| !taken[*new]);
            if options.should_stop.should_stop() {
                return Err(TreeError::Stopped);
            }
            let Some((new, similarity)) = best(&changes, old, free, exact, options)? else {
                continue;
            };
            (taken[old], taken[new]) = (true, true);
            let from = changes[old].path.clone();
            changes[new].before = changes[old].before.take();
            changes[new].renamed = Some((from, similarity));
        }
    }
    // A removal that became part of a rename is no change of its own.
    changes.retain(|change| change.before.is_some() || change.after.is_some());
    Ok(changes)
}

fn positions(changes: &[Change], of: impl Fn(&Change) -> bool) -> Vec<usize> {
    changes
        .iter()
        .enumerate()
        .filter(|(_, change)| of(change))
        .map(|(index, _)| index)
        .collect()
}

/// Returns the addition that is most like a removal. Of equals, it is the one with the same file name.
fn best(
    changes: &[Change],
    old: usize,
    candidates: impl Iterator<Item = usize>,
    exact: bool,
    options: &Options<'_>,
) -> Result<Option<(usize, u8)>, TreeError> {
    let Some(before) = &changes[old].before else {
        return Ok(None);
    };
    let mut best: Option<(f32, bool, usize)> = None;
    for new in candidates {
        let Some(after) = &changes[new].after else {
            continue;
        };
        let Some(likeness) = similarity(before, after, exact, options)? else {
            continue;
        };
        let has_same_name = changes[new].path.file_name() == changes[old].path.file_name();
        if best.is_none_or(|best| (likeness, has_same_name) > (best.0, best.1)) {
            best = Some((likeness, has_same_name, new));
        }
    }
    Ok(best.map(|(likeness, _, new)| (new, (likeness * 100.0) as u8)))
}

/// Returns how alike two files are, or `None` if one is not a rename of the other.
fn similarity(
    before: &Version,
    after: &Version,
    exact: bool,
    options: &Options<'_>,
) -> Result<Option<f32>, TreeError> {
    if !before.may_become(after) {
        return Ok(None);
    }
    if exact {
        return Ok(before.has_bytes_of(after, options)?.then_some(1.0));
    }
    let is_small = |version: &Version| version.size().is_some_and(|size| size <= LARGEST_COMPARED);
    if !is_small(before) || !is_small(after) {
        return Ok(None);
    }
    match (before.text(), after.text()) {
        (Some(before), Some(after)) => Ok(likeness(&before, &after)),
        _ => Ok(None),
    }
}

fn likeness(old: &str, new: &str) -> Option<f32> {
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
    (ratio >= ALIKE).then_some(ratio.min(0.99))
}
