//! Circles among sibling modules.
//!
//! Each child of a module counts together with everything below it. A reference from one child to
//! another is an edge at that module's level; a reference between a module and one that contains it
//! is none, at any level.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::modules::{Crate, Place};
use crate::references::{Reference, references};

/// Siblings that all depend on each other.
#[derive(Debug)]
pub struct Circle {
    /// The path of the module that holds them; empty at the crate's root.
    pub level: String,
    /// The names of the siblings.
    pub members: BTreeSet<String>,
    /// A small set of edges without which there is no circle.
    pub closing: Vec<Edge>,
}

/// One sibling's dependency on another.
#[derive(Debug, Clone)]
pub struct Edge {
    /// The sibling that refers.
    pub from: String,
    /// The sibling that is referred to.
    pub to: String,
    /// The lines that refer.
    pub places: BTreeSet<Place>,
}

/// The edges of one level with the places of each.
type Edges = BTreeMap<(String, String), BTreeSet<Place>>;

/// Returns the circles of a crate, those at its root first.
pub fn circles(tree: &Crate) -> Vec<Circle> {
    let mut levels: BTreeMap<&[String], Edges> = BTreeMap::new();
    for reference in references(tree) {
        let from = tree.path(reference.from);
        let to = tree.path(reference.to);
        let shared = from
            .iter()
            .zip(to)
            .take_while(|(from, to)| from == to)
            .count();
        if let (Some(from_child), Some(to_child)) = (from.get(shared), to.get(shared)) {
            let edges = levels.entry(&from[..shared]).or_default();
            let places = edges
                .entry((from_child.clone(), to_child.clone()))
                .or_default();
            places.insert(tree.place(reference.from, reference.line));
        }
    }
    let mut found = Vec::new();
    for (level, edges) in levels {
        let edges = edges
            .into_iter()
            .map(|((from, to), places)| Edge { from, to, places });
        found.extend(circles_among(&level.join("::"), &edges.collect::<Vec<_>>()));
    }
    found
}

/// Counts the modules that use an item of the module around them, which uses them in turn.
///
/// Rust programs do that often, so it is counted and not forbidden. A parent's re-exports do not
/// count.
pub(crate) fn entangled_with_parent(tree: &Crate) -> usize {
    let mut upward = BTreeSet::new();
    let mut downward = BTreeSet::new();
    for Reference {
        from,
        to,
        is_reexport,
        ..
    } in references(tree)
    {
        if tree.modules[from].position.parent == Some(to) {
            upward.insert((from, to));
        } else if tree.modules[to].position.parent == Some(from) && !is_reexport {
            downward.insert((to, from));
        }
    }
    upward.intersection(&downward).count()
}

fn circles_among(level: &str, edges: &[Edge]) -> Vec<Circle> {
    let mut circles: Vec<Circle> = Vec::new();
    for edge in edges {
        let is_known = circles
            .iter()
            .any(|circle| circle.members.contains(&edge.from));
        if is_known || !reachable(edges, &edge.to).contains(&edge.from) {
            continue;
        }
        let members: BTreeSet<String> = reachable(edges, &edge.from)
            .into_iter()
            .filter(|name| reachable(edges, name).contains(&edge.from))
            .collect();
        let inside = edges
            .iter()
            .filter(|edge| members.contains(&edge.from) && members.contains(&edge.to));
        circles.push(Circle {
            level: level.to_owned(),
            closing: closing_edges(inside.cloned().collect()),
            members,
        });
    }
    circles
}

/// Keeps edges from the heaviest on as long as they close no circle, and returns the others.
fn closing_edges(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_by_key(|edge| Reverse(edge.places.len()));
    let mut kept: Vec<Edge> = Vec::new();
    let mut closing = Vec::new();
    for edge in edges {
        if reachable(&kept, &edge.to).contains(&edge.from) {
            closing.push(edge);
        } else {
            kept.push(edge);
        }
    }
    closing
}

/// Returns the names that can be reached from one, with itself.
fn reachable(edges: &[Edge], start: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::from([start.to_owned()]);
    let mut open = vec![start];
    while let Some(name) = open.pop() {
        for edge in edges.iter().filter(|edge| edge.from == name) {
            if reached.insert(edge.to.clone()) {
                open.push(&edge.to);
            }
        }
    }
    reached
}
