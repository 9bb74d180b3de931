//! Keeps the first of equal items.

use std::collections::HashSet;
use std::hash::Hash;

/// Returns the items that differ, in the order in which each first appears.
pub(super) fn distinct<T: Copy + Eq + Hash>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(*item)).collect()
}
