//! The sign-flip permutation test of paired differences.
//!
//! If an experiment changes nothing, it is chance alone which of its eval's two values is the experiment's: every
//! difference could as well have had the other sign. p is the share of all ways to set the signs that give a sum at
//! least as far from 0 as the one found. With one trial per eval this is the exact McNemar test.

use super::CannotTell;

/// Up to here every way to set the signs is counted.
pub const EXACT_UP_TO: usize = 20;
/// Above it, so many are drawn.
pub const DRAWS: usize = 10_000;

/// The two-sided p-value; the seed matters only above [`EXACT_UP_TO`] evals.
pub fn p_value(differences: &[f64], seed: u64) -> Result<f64, CannotTell> {
    match differences.len() {
        0 => Err(CannotTell::NoEvals),
        1 => Err(CannotTell::OneEval),
        2..=EXACT_UP_TO => Ok(exact(differences)),
        _ => Ok(drawn(differences, seed)),
    }
}

/// The smallest p-value that so many evals can give: all of them changed to the same side.
pub fn smallest_p(evals: usize) -> f64 {
    0.5f64
        .powi(i32::try_from(evals).unwrap_or(i32::MAX).saturating_sub(1))
        .min(1.0)
}

/// From which size on a sum counts as large as the one found. Sums that are equal on paper differ in their last
/// digits by the order they are added in.
fn threshold(differences: &[f64]) -> f64 {
    let scale: f64 = differences.iter().map(|difference| difference.abs()).sum();
    differences.iter().sum::<f64>().abs() - 1e-9 * scale
}

/// Every sum is one of the first half's sums plus one of the second's: two sorted lists of a thousand represent a
/// million ways.
fn exact(differences: &[f64]) -> f64 {
    let threshold = threshold(differences);
    let (one, other) = differences.split_at(differences.len() / 2);
    let (one, other) = (signed_sums(one), signed_sums(other));
    // The largest of `one` meets the smallest of `other`; as one grows smaller, the other must grow larger.
    let mut first_large = other.len();
    let mut large: usize = 0;
    for sum in &one {
        while first_large > 0 && sum + other[first_large - 1] >= threshold {
            first_large -= 1;
        }
        large += other.len() - first_large;
    }
    let ways = one.len() * other.len();
    // The other tail is the mirror image.
    (2.0 * large as f64 / ways as f64).min(1.0)
}

/// All sums with either sign for each, in ascending order.
fn signed_sums(differences: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for difference in differences {
        sums = sums
            .iter()
            .flat_map(|sum| [sum - difference, sum + difference])
            .collect();
    }
    sums.sort_by(f64::total_cmp);
    sums
}

/// The one found counts as drawn too, so p is never 0.
fn drawn(differences: &[f64], seed: u64) -> f64 {
    let threshold = threshold(differences);
    let mut random = fastrand::Rng::with_seed(seed);
    let large = (0..DRAWS)
        .filter(|_| random_sum(differences, &mut random).abs() >= threshold)
        .count();
    (large + 1) as f64 / (DRAWS + 1) as f64
}

/// One random number has the signs of sixty-four.
fn random_sum(differences: &[f64], random: &mut fastrand::Rng) -> f64 {
    let mut sum = 0.0;
    for chunk in differences.chunks(64) {
        let mut signs = random.u64(..);
        for difference in chunk {
            sum += if signs & 1 == 1 {
                *difference
            } else {
                -difference
            };
            signs >>= 1;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::mcnemar::mcnemar;

    /// As the definition says it, way by way.
    fn by_brute_force(differences: &[f64]) -> f64 {
        let ways = 1u32 << differences.len();
        let sum = |way: u32| -> f64 {
            differences
                .iter()
                .enumerate()
                .map(|(n, d)| if way >> n & 1 == 1 { *d } else { -d })
                .sum()
        };
        let found = sum(ways - 1).abs();
        f64::from(
            (0..ways)
                .filter(|way| sum(*way).abs() >= found - 1e-9)
                .count() as u32,
        ) / f64::from(ways)
    }

    #[test]
    fn every_way_is_counted() {
        let mut random = fastrand::Rng::with_seed(1);
        for evals in 2..12 {
            for _ in 0..20 {
                let differences: Vec<f64> = (0..evals)
                    .map(|_| f64::from(random.i32(-5..=5)) / 5.0)
                    .collect();
                let p = p_value(&differences, 0).unwrap();
                assert!(
                    (p - by_brute_force(&differences)).abs() < 1e-12,
                    "{differences:?}: {p}"
                );
            }
        }
    }

    #[test]
    fn one_trial_per_eval_is_mcnemar() {
        for (b, c, same) in [(6, 0, 0), (5, 0, 3), (7, 2, 4), (3, 3, 1), (10, 1, 9)] {
            let differences = [vec![1.0; b], vec![-1.0; c], vec![0.0; same]].concat();
            let p = p_value(&differences, 0).unwrap();
            assert!((p - mcnemar(b, c)).abs() < 1e-12, "{b} {c}: {p}");
        }
    }

    #[test]
    fn draws_come_near_the_exact_value() {
        let differences: Vec<f64> = (0..20).map(|n| f64::from(n % 7) / 7.0 - 0.3).collect();
        let (exact, drawn) = (exact(&differences), drawn(&differences, 7));
        assert!((exact - drawn).abs() < 0.015, "{exact} {drawn}");
    }

    #[test]
    fn too_little_gives_a_reason() {
        assert_eq!(p_value(&[], 0), Err(CannotTell::NoEvals));
        assert_eq!(p_value(&[1.0], 0), Err(CannotTell::OneEval));
        assert_eq!(p_value(&[0.0; 30], 0), Ok(1.0));
        assert!((smallest_p(6) - 0.03125).abs() < 1e-15);
    }
}
