//! Fisher's exact test of two proportions, two-sided.

use super::special::ln_choose;

/// Each arm is how many did and how many did not.
pub fn fisher(first: (usize, usize), second: (usize, usize)) -> f64 {
    let (row, other) = (first.0 + first.1, second.0 + second.1);
    let column = first.0 + second.0;
    let ln_probability = |did: usize| {
        ln_choose(row, did) + ln_choose(other, column - did) - ln_choose(row + other, column)
    };
    // Tables that are as likely on paper differ in their last digits.
    let limit = ln_probability(first.0) + 1e-9;
    let possible = column.saturating_sub(other)..=row.min(column);
    let p: f64 = possible
        .map(ln_probability)
        .filter(|ln| *ln <= limit)
        .map(f64::exp)
        .sum();
    p.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_compare_is_no_difference() {
        for (first, second) in [
            ((0, 0), (0, 0)),
            ((0, 5), (0, 7)),
            ((5, 0), (7, 0)),
            ((0, 0), (3, 4)),
        ] {
            assert!(
                (fisher(first, second) - 1.0).abs() < 1e-12,
                "{first:?} {second:?}"
            );
        }
    }

    #[test]
    fn arms_and_outcomes_can_be_swapped() {
        let p = fisher((9, 21), (1, 29));
        for swapped in [fisher((1, 29), (9, 21)), fisher((21, 9), (29, 1))] {
            assert!((p - swapped).abs() < 1e-12);
        }
        assert!(p < 0.05);
    }
}
