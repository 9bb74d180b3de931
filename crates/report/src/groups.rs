//! Things that belong together.

use std::collections::HashMap;
use std::hash::Hash;

/// Returns things by their keys, in the order in which keys first appear.
pub(crate) fn grouped<K: Clone + Eq + Hash, T>(
    things: impl IntoIterator<Item = (K, T)>,
) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut places = HashMap::new();
    for (key, thing) in things {
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(thing);
    }
    groups
}

/// Joins names: so many of them, and the number of the others.
pub(crate) fn first_few(names: &[String], most: usize) -> String {
    match names.get(most..) {
        Some([_, ..]) => {
            let more = names.len() - most;
            format!("{} and {more} more", names[..most].join(", "))
        }
        _ => names.join(", "),
    }
}
