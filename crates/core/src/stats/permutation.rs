//! The permutation test of graded values, stratified by eval: scores, or logarithms of cost, tokens and time.
//!
//! If the experiment changes nothing, it is chance alone which of an eval's values are the experiment's. p is the share of
//! all ways to deal them out that give a difference at least as far from 0 as the one found.

use super::stratum::{TwoArms, difference};
use super::{CannotTell, sample};

/// Up to this number of ways, all are counted.
const MOST_WAYS: usize = 1_000_000;
/// Beyond it, so many are drawn, always the same ones.
const DRAWS: usize = 100_000;
/// Large suites have fewer draws, so that no more values than this are dealt out.
const MOST_WORK: usize = 20_000_000;
const SEED: u64 = 1;
/// A stratum with at most so many ways is drawn from a list of them, which is faster than dealing out its values.
const LISTED: usize = 2 * DRAWS;

/// The values of one stratum.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// With the experiment.
    pub arm: Vec<f64>,
    /// Without it.
    pub baseline: Vec<f64>,
    /// The weight is 1 over this number.
    pub share: usize,
}

impl TwoArms for Values {
    fn arms(&self) -> [(f64, f64); 2] {
        [&self.arm, &self.baseline].map(|values| (values.len() as f64, values.iter().sum()))
    }

    fn share(&self) -> usize {
        self.share
    }
}

impl Values {
    fn all(&self) -> Vec<f64> {
        [self.arm.as_slice(), self.baseline.as_slice()].concat()
    }

    /// The weighted difference if the values of the arm add up to `sum`, of all that add up to `total`.
    fn weighted(&self, sum: f64, total: f64) -> f64 {
        let (n, m) = (self.arm.len() as f64, self.baseline.len() as f64);
        self.weight() * (sum / n - (total - sum) / m)
    }
}

/// Returns the two-sided p-value.
pub fn p_value(strata: &[Values]) -> Result<f64, CannotTell> {
    let found = difference(strata)?.abs();
    // Where all values are the same, there is one way only, and its difference is 0.
    let varies = |stratum: &&Values| !sample::is_constant(&stratum.all());
    let strata: Vec<Values> = strata.iter().filter(varies).cloned().collect();
    let strata = strata.as_slice();
    // Sums that are equal on paper differ in their last digits by the order they are added in.
    let scale: f64 = strata.iter().flat_map(Values::all).map(f64::abs).sum();
    let limit = found - 1e-12 * scale.max(found);
    let ways = strata
        .iter()
        .map(|stratum| ways(stratum.arm.len(), stratum.baseline.len()))
        .try_fold(1usize, |all, more| all.checked_mul(more?))
        .filter(|ways| *ways <= MOST_WAYS);
    Ok(match ways {
        Some(_) => counted(strata, limit),
        None => drawn(strata, limit),
    })
}

/// The number of ways to choose the arm's values, if it is not too large to list them.
fn ways(n: usize, m: usize) -> Option<usize> {
    (1..=n.min(m)).try_fold(1usize, |ways, k| {
        Some(ways.checked_mul(n + m + 1 - k)? / k).filter(|ways| *ways <= MOST_WAYS)
    })
}

fn is_listed(n: usize, m: usize) -> bool {
    ways(n, m).is_some_and(|ways| ways <= LISTED)
}

/// The weighted differences of all ways to deal out the values of one stratum.
fn listed(stratum: &Values) -> Vec<f64> {
    let all = stratum.all();
    let total: f64 = all.iter().sum();
    let size = stratum.arm.len();
    // Sums of subsets, by their size: each value is in the arm or not.
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); size + 1];
    sums[0].push(0.0);
    for (dealt, value) in all.iter().enumerate() {
        let left = all.len() - dealt - 1;
        for taken in (0..=size.min(dealt)).rev() {
            if taken < size {
                let with: Vec<f64> = sums[taken].iter().map(|sum| sum + value).collect();
                sums[taken + 1].extend(with);
            }
            // Too few values are left to fill the arm.
            if size - taken > left {
                sums[taken].clear();
            }
        }
    }
    let whole = std::mem::take(&mut sums[size]);
    whole
        .into_iter()
        .map(|sum| stratum.weighted(sum, total))
        .collect()
}

fn counted(strata: &[Values], limit: f64) -> f64 {
    let mut sums = vec![0.0];
    for stratum in strata {
        let more = listed(stratum);
        sums = sums
            .iter()
            .flat_map(|sum| more.iter().map(move |difference| sum + difference))
            .collect();
    }
    let far = sums.iter().filter(|sum| sum.abs() >= limit).count();
    far as f64 / sums.len() as f64
}

/// The one found counts as drawn too, so p is never 0.
fn drawn(strata: &[Values], limit: f64) -> f64 {
    let mut random = fastrand::Rng::with_seed(SEED);
    let work = |stratum: &Values| {
        let (n, m) = (stratum.arm.len(), stratum.baseline.len());
        if is_listed(n, m) { 1 } else { n + m }
    };
    let of_one_draw: usize = strata.iter().map(work).sum();
    let draws = DRAWS.min(MOST_WORK / of_one_draw.max(1)).max(1000);
    let mut sums = vec![0.0; draws];
    for stratum in strata {
        let (n, m) = (stratum.arm.len(), stratum.baseline.len());
        if is_listed(n, m) {
            let list = listed(stratum);
            for sum in &mut sums {
                *sum += list[random.usize(..list.len())];
            }
        } else {
            let mut all = stratum.all();
            let total: f64 = all.iter().sum();
            for sum in &mut sums {
                for place in 0..n {
                    all.swap(place, random.usize(place..n + m));
                }
                *sum += stratum.weighted(all[..n].iter().sum(), total);
            }
        }
    }
    let far = sums.iter().filter(|sum| sum.abs() >= limit).count();
    (far + 1) as f64 / (draws + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::stratified_exact;
    use crate::stats::stratum::Stratum;
    use crate::stats::stratum::tests::PassedOf;

    fn of_counts(counts: &[PassedOf]) -> Vec<Values> {
        let values = |(passed, trials): (usize, usize)| {
            (0..trials)
                .map(|trial| if trial < passed { 1.0 } else { 0.0 })
                .collect()
        };
        counts
            .iter()
            .map(|(arm, baseline)| Values {
                arm: values(*arm),
                baseline: values(*baseline),
                share: counts.len(),
            })
            .collect()
    }

    #[test]
    fn scores_of_0_and_1_are_pass_rates() {
        for counts in [
            vec![((4, 4), (1, 4))],
            vec![((3, 3), (1, 4)), ((2, 5), (0, 2)), ((4, 4), (3, 4))],
            vec![((1, 1), (0, 1)); 9],
        ] {
            let exact = stratified_exact::p_value(&Stratum::equal(&counts)).unwrap();
            let found = p_value(&of_counts(&counts)).unwrap();
            assert!((found - exact).abs() < 1e-12, "{counts:?}: {found} {exact}");
        }
    }

    #[test]
    fn draws_come_near_the_exact_value() {
        let counts = [
            ((4, 4), (1, 4)),
            ((4, 4), (2, 4)),
            ((3, 4), (2, 4)),
            ((2, 4), (2, 4)),
        ];
        let strata = of_counts(&counts);
        let exact = stratified_exact::p_value(&Stratum::equal(&counts)).unwrap();
        let found = drawn(&strata, difference(&strata).unwrap().abs() - 1e-9);
        assert!((found - exact).abs() < 0.002, "{found} {exact}");
        // A stratum that is too large for a list.
        let large = [((9, 14), (4, 14))];
        let exact = stratified_exact::p_value(&Stratum::equal(&large)).unwrap();
        let found = p_value(&of_counts(&large)).unwrap();
        assert!((found - exact).abs() < 0.002, "{found} {exact}");
    }

    #[test]
    fn all_ways_are_listed_once() {
        for (n, m, expected) in [(1, 1, 2), (2, 3, 10), (5, 5, 252), (3, 1, 4)] {
            let values = Values {
                arm: vec![1.0; n],
                baseline: vec![0.0; m],
                share: 1,
            };
            assert_eq!(listed(&values).len(), expected);
            assert_eq!(ways(n, m), Some(expected));
        }
        assert_eq!(ways(200, 200), None);
    }
}
