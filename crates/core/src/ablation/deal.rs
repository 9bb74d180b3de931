//! The rows of a design, and which trials get which row.
//!
//! The rows are those of a Hadamard matrix and their opposites (its fold-over), in pairs: a row, then the row that has
//! exactly the other parts. A pair has every part once, so an eval that gets whole pairs sees every part equally often
//! with and without. Over all rows, no part goes together with another one, nor with any two others.

use super::hadamard;

/// Returns the rows for so many parts, in pairs. The first has all parts, the second none.
pub fn rows(parts: usize) -> Vec<Vec<bool>> {
    let mut rows = Vec::new();
    for row in hadamard::at_least(parts) {
        let row: Vec<bool> = row.into_iter().take(parts).collect();
        let opposite = row.iter().map(|has| !has).collect();
        rows.extend([row, opposite]);
    }
    rows
}

/// Returns the rows of each eval. Trials are dealt in pairs of rows, so an odd number gets one more.
///
/// Where an eval has fewer trials than there are rows, it gets a part of the pairs, and the next eval goes on from there in
/// an order that is drawn. So all pairs are used equally often, but for one.
pub fn deal(pairs: usize, evals: usize, trials: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut deck: Vec<usize> = (0..pairs).collect();
    // The first pair stays first: all parts and none are always among the rows.
    if let Some((_, others)) = deck.split_first_mut() {
        fastrand::Rng::with_seed(seed).shuffle(others);
    }
    let of_eval = trials.div_ceil(2);
    let hand = |eval: usize| {
        let cards = (0..of_eval).map(|card| deck[(eval * of_eval + card) % pairs]);
        cards.flat_map(|pair| [2 * pair, 2 * pair + 1]).collect()
    };
    (0..evals).map(hand).collect()
}

/// Returns the fewest trials of an eval with which every row is used.
pub fn fewest_trials(pairs: usize, evals: usize) -> usize {
    2 * pairs.div_ceil(evals.max(1))
}
