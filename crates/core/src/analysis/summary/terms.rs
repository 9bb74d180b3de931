//! What a comparison goes by.

use super::by::By;

/// What is compared with what, and how.
#[derive(Debug)]
pub(super) struct Terms<'t> {
    pub(super) baseline: &'t str,
    pub(super) margin: f64,
    /// Of the draws of permutations.
    pub(super) seed: u64,
    pub(super) concurrency: usize,
    /// What the arms are: only the words depend on it.
    pub(super) by: By,
    /// Whether trials were added for as long as the comparisons were undecided.
    pub(super) adaptive: bool,
}
