//! The exact McNemar test: of the pairs that differ, are as many better as worse?

use super::special::ln_choose;

/// `b` pairs changed one way and `c` the other.
pub fn mcnemar(b: usize, c: usize) -> f64 {
    let n = b + c;
    let ln_half = 0.5f64.ln();
    let tail: f64 = (0..=b.min(c))
        .map(|k| (ln_choose(n, k) + n as f64 * ln_half).exp())
        .sum();
    (2.0 * tail).min(1.0)
}
