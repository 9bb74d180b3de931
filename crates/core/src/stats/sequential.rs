//! A test that may be looked at after every round: evidence against "as many pairs change for the better as for the
//! worse" is an e-value, and the chance that it ever reaches 20 is at most 1 in 20 when nothing is going on.
//!
//! It bets on all shares of better pairs alike: E = ∫ θᵇ(1−θ)ᶜ dθ / ½ᵇ⁺ᶜ = B(b+1, c+1) · 2ᵇ⁺ᶜ.

use std::f64::consts::LN_2;

use super::special::ln_beta;

/// The logarithm of the e-value: `b` pairs changed for the better and `c` for the worse.
pub fn ln_e_value(b: usize, c: usize) -> f64 {
    ln_beta(b as f64 + 1.0, c as f64 + 1.0) + (b + c) as f64 * LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // B(1, 1) = 1; B(9, 1)·2⁸ = 256/9; B(3, 2)·2³ = 8/12.
        for (b, c, expected) in [
            (0, 0, 1.0),
            (8, 0, 256.0 / 9.0),
            (2, 1, 8.0 / 12.0),
            (1, 2, 8.0 / 12.0),
        ] {
            assert!((ln_e_value(b, c).exp() - expected).abs() < 1e-12, "{b} {c}");
        }
        let is_decided = |b, c| ln_e_value(b, c).exp() >= 20.0;
        assert!(!is_decided(7, 0) && is_decided(8, 0) && is_decided(0, 8));
    }

    /// The next pair goes either way with even odds: the mean of what comes is what is.
    #[test]
    fn it_is_a_fair_bet() {
        for b in 0..40 {
            for c in 0..40 {
                let next = (ln_e_value(b + 1, c).exp() + ln_e_value(b, c + 1).exp()) / 2.0;
                assert!(
                    (next / ln_e_value(b, c).exp() - 1.0).abs() < 1e-9,
                    "{b} {c}"
                );
            }
        }
    }
}
