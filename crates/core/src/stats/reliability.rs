//! pass@k: that at least one of k trials passes; pass^k: that all of them do. Both from n trials of which c passed,
//! without bias: the shares of all ways to choose k of the n.

/// Estimates the chance that at least one of `k` trials passes.
pub fn pass_at_k(trials: usize, passed: usize, k: usize) -> Option<f64> {
    Some(1.0 - pass_hat_k(trials, trials - passed, k)?)
}

/// Estimates the chance that all of `k` trials pass: the chance that `k` chosen of `n` are all among those that passed.
pub fn pass_hat_k(n: usize, passed: usize, k: usize) -> Option<f64> {
    let chances = (0..k).map(|i| passed.saturating_sub(i) as f64 / (n - i) as f64);
    (k <= n).then(|| chances.product())
}

/// The numbers of trials that are worth telling, of those that `n` trials allow.
pub fn worth_telling(n: usize) -> impl Iterator<Item = usize> {
    let powers = std::iter::successors(Some(10usize), |ten| ten.checked_mul(10));
    (1..10)
        .chain(powers.flat_map(|ten| [ten, ten.saturating_mul(2), ten.saturating_mul(5)]))
        .take_while(move |k| *k <= n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_are_cannot_be_told() {
        assert_eq!(pass_at_k(0, 0, 1), None);
        assert_eq!(pass_at_k(3, 1, 4), None);
        assert_eq!(pass_hat_k(3, 3, 3), Some(1.0));
        assert_eq!(pass_at_k(3, 0, 3), Some(0.0));
    }

    #[test]
    fn every_small_k_and_then_round_ones() {
        assert_eq!(worth_telling(0).count(), 0);
        assert_eq!(worth_telling(3).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(
            worth_telling(60).collect::<Vec<_>>(),
            [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50]
        );
    }
}
