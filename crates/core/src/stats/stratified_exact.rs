//! The exact permutation test of two pass rates, stratified by eval.
//!
//! If the experiment changes nothing, it is chance alone which of an eval's trials were the experiment's. Given how many
//! of them passed, the number of those in the experiment's arm is hypergeometric, and independent across evals. p is the
//! chance of a difference at least as far from 0 as the one found. It is found by convolution, without draws.
//!
//! One stratum with arms of the same size is Fisher's test. One trial in each arm of every stratum is the exact McNemar
//! test.
//!
//! Differences are compared as integers over a common denominator, so equal ones are equal. Two limits keep the work
//! bounded: the denominator's size and the number of different sums. Beyond them, sums are rounded away from 0. That
//! makes p larger, never smaller. Suites whose arms have a few different numbers of trials are far from both.

use std::cmp::Reverse;

use super::CannotTell;
use super::special::ln_choose;
use super::stratum::{Stratum, check};

/// The largest common denominator. Beyond it, differences are rounded to multiples of 1 over this number.
const FINEST: i128 = 1 << 80;
/// The number of different sums that are kept apart. Beyond it, they are rounded to so many steps.
const MOST_SUMS: usize = 1 << 20;
const STEPS: i128 = 1 << 16;

/// Returns the two-sided p-value.
pub fn p_value(strata: &[Stratum]) -> Result<f64, CannotTell> {
    check(strata)?;
    // Where all trials or none passed, there is one way only, and its difference is 0.
    let open: Vec<&Stratum> = strata
        .iter()
        .filter(|stratum| {
            let passed = stratum.arm.passed + stratum.baseline.passed;
            passed > 0 && passed < stratum.arm.trials + stratum.baseline.trials
        })
        .collect();
    let scale = Scale::of(&open);
    let found = open
        .iter()
        .map(|stratum| scale.towards_zero(stratum))
        .sum::<i128>()
        .abs();
    if found == 0 {
        return Ok(1.0);
    }
    let groups = Group::all(&open, scale);
    let mirrored: Vec<Group> = groups.iter().map(Group::mirrored).collect();
    Ok((upper_tail(&groups, found) + upper_tail(&mirrored, found)).min(1.0))
}

/// Returns the smallest p-value that trials of these numbers can give, if all of one arm pass and none of the other.
pub fn smallest_p(trials: &[(usize, usize)]) -> f64 {
    let ways: f64 = trials.iter().map(|(n, m)| ln_choose(n + m, *n)).sum();
    (2.0 * (-ways).exp()).min(1.0)
}

/// The common denominator of all differences.
#[derive(Debug, Clone, Copy)]
struct Scale {
    denominator: i128,
    is_exact: bool,
}

impl Scale {
    fn of(strata: &[&Stratum]) -> Self {
        let exact = strata
            .iter()
            .map(|stratum| own_denominator(stratum))
            .try_fold(1i128, |common, own| {
                Some(common / greatest_common_divisor(common, own) * own)
                    .filter(|common| *common <= FINEST)
            });
        Scale {
            denominator: exact.unwrap_or(FINEST),
            is_exact: exact.is_some(),
        }
    }

    /// Returns `numerator / own_denominator(stratum)` in units of the scale, rounded up where it must be.
    fn rounded_up(self, numerator: i128, stratum: &Stratum) -> i128 {
        let own = own_denominator(stratum);
        if self.is_exact {
            return numerator * (self.denominator / own);
        }
        // Whole parts first, so that nothing overflows.
        let whole = numerator.div_euclid(own);
        let rest = numerator.rem_euclid(own);
        whole * self.denominator + (rest * self.denominator + own - 1).div_euclid(own)
    }

    /// Returns the stratum's part of the difference that was found, rounded towards 0 where it must be.
    fn towards_zero(self, stratum: &Stratum) -> i128 {
        let numerator = found_numerator(stratum);
        if self.is_exact {
            self.rounded_up(numerator, stratum)
        } else {
            let size = -self.rounded_up(-numerator.abs(), stratum);
            size * numerator.signum()
        }
    }
}

/// The weighted difference of a stratum is a whole number over this.
fn own_denominator(stratum: &Stratum) -> i128 {
    stratum.share as i128 * stratum.arm.trials as i128 * stratum.baseline.trials as i128
}

/// The numerator of the difference when `in_arm` of the trials that passed are in the experiment's arm.
fn numerator(stratum: &Stratum, in_arm: usize) -> i128 {
    let passed = stratum.arm.passed + stratum.baseline.passed;
    in_arm as i128 * stratum.baseline.trials as i128
        - (passed - in_arm) as i128 * stratum.arm.trials as i128
}

fn found_numerator(stratum: &Stratum) -> i128 {
    numerator(stratum, stratum.arm.passed)
}

fn greatest_common_divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Strata whose differences grow by the same step: the chance of the lowest sum, of the next, and so on.
#[derive(Debug, Clone)]
struct Group {
    lowest: i128,
    step: i128,
    chances: Vec<f64>,
}

impl Group {
    fn all(strata: &[&Stratum], scale: Scale) -> Vec<Self> {
        let mut groups: Vec<Group> = Vec::new();
        for stratum in strata {
            let one = Group::of(stratum, scale);
            match groups.iter_mut().find(|group| group.step == one.step) {
                Some(group) => group.add(&one),
                None => groups.push(one),
            }
        }
        groups
    }

    fn of(stratum: &Stratum, scale: Scale) -> Self {
        let (n, m) = (stratum.arm.trials, stratum.baseline.trials);
        let passed = stratum.arm.passed + stratum.baseline.passed;
        let fewest = passed.saturating_sub(m);
        let most = passed.min(n);
        let chance = |in_arm: usize| {
            (ln_choose(n, in_arm) + ln_choose(m, passed - in_arm) - ln_choose(n + m, passed)).exp()
        };
        Group {
            lowest: scale.rounded_up(numerator(stratum, fewest), stratum),
            step: scale.rounded_up((n + m) as i128, stratum),
            chances: (fewest..=most).map(chance).collect(),
        }
    }

    fn add(&mut self, other: &Group) {
        self.lowest += other.lowest;
        let mut sums = vec![0.0; self.chances.len() + other.chances.len() - 1];
        for (offset, chance) in other.chances.iter().enumerate() {
            for (sum, own) in sums[offset..].iter_mut().zip(&self.chances) {
                *sum += own * chance;
            }
        }
        self.chances = sums;
    }

    /// Returns each sum with its chance.
    fn values(&self) -> impl Iterator<Item = Sum> {
        let sums = (0i128..).map(|steps| self.lowest + self.step * steps);
        sums.zip(self.chances.iter().copied())
    }

    /// Returns how far the largest sum is above the lowest.
    fn range(&self) -> i128 {
        self.step * (self.chances.len() as i128 - 1)
    }

    /// Returns the same with all signs changed.
    fn mirrored(&self) -> Self {
        Group {
            lowest: -self.lowest - self.range(),
            step: self.step,
            chances: self.chances.iter().rev().copied().collect(),
        }
    }
}

/// Returns the chance that the sum over all groups is at least `limit`.
fn upper_tail(groups: &[Group], limit: i128) -> f64 {
    exact_tail(groups, limit).unwrap_or_else(|| rounded_tail(groups, limit))
}

/// A sum, and its chance.
type Sum = (i128, f64);

/// Returns the chance without any rounding, unless there are too many different sums. Every sum is one of the first half's
/// plus one of the second half's.
fn exact_tail(groups: &[Group], limit: i128) -> Option<f64> {
    let mut largest_first: Vec<&Group> = groups.iter().collect();
    largest_first.sort_by_key(|group| Reverse(group.chances.len()));
    let mut one: Vec<Sum> = vec![(0, 1.0)];
    let mut other = one.clone();
    for group in largest_first {
        let smaller = if one.len() <= other.len() {
            &mut one
        } else {
            &mut other
        };
        *smaller = with_group(smaller, group)?;
    }
    // As the first sum grows, the second may be smaller.
    let mut first_enough = other.len();
    let mut enough = 0.0;
    let mut chance = 0.0;
    for (sum, own) in &one {
        while first_enough > 0 && sum + other[first_enough - 1].0 >= limit {
            first_enough -= 1;
            enough += other[first_enough].1;
        }
        chance += own * enough;
    }
    Some(chance)
}

/// Returns all sums with one more group, in ascending order, equal ones joined. `None` if there are too many.
fn with_group(sums: &[Sum], group: &Group) -> Option<Vec<Sum>> {
    if sums.len().checked_mul(group.chances.len())? > MOST_SUMS {
        return None;
    }
    let mut more: Vec<Sum> = group
        .values()
        .flat_map(|(value, chance)| {
            sums.iter()
                .map(move |(sum, own)| (sum + value, own * chance))
        })
        .collect();
    more.sort_by_key(|(sum, _)| *sum);
    let mut joined: Vec<Sum> = Vec::new();
    for (sum, chance) in more {
        match joined.last_mut() {
            Some(last) if last.0 == sum => last.1 += chance,
            _ => joined.push((sum, chance)),
        }
    }
    Some(joined)
}

/// Returns the chance with each group's sums rounded up to one of [`STEPS`] steps.
fn rounded_tail(groups: &[Group], limit: i128) -> f64 {
    let range: i128 = groups.iter().map(Group::range).sum();
    let lowest: i128 = groups.iter().map(|group| group.lowest).sum();
    let width = range / STEPS + 1;
    let mut sums = vec![1.0];
    for group in groups {
        let steps = |value: i128| ((value - group.lowest + width - 1) / width) as usize;
        let mut more = vec![0.0; sums.len() + steps(group.lowest + group.range())];
        for (value, chance) in group.values() {
            for (sum, own) in more[steps(value)..].iter_mut().zip(&sums) {
                *sum += own * chance;
            }
        }
        sums = more;
    }
    let below = (limit - lowest - 1).div_euclid(width) + 1;
    sums.iter().skip(below.max(0) as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fisher::fisher;
    use crate::stats::mcnemar::mcnemar;

    type Counts = ((usize, usize), (usize, usize));

    fn p(counts: &[Counts]) -> f64 {
        p_value(&Stratum::equal(counts)).unwrap()
    }

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 1e-11 + 1e-9 * expected,
            "{found} is not {expected}"
        );
    }

    /// As the definition says it: every way to deal out the trials of every stratum, one after another.
    fn by_enumeration(counts: &[Counts]) -> f64 {
        // The differences over the product of all denominators, and in how many ways each comes about.
        let denominator: i128 = counts
            .iter()
            .map(|((_, n), (_, m))| (n * m) as i128)
            .product();
        let mut ways = vec![(0i128, 1.0f64)];
        let mut found = 0;
        for ((a, n), (b, m)) in counts {
            let unit = denominator / (n * m) as i128;
            let trials: Vec<bool> = (0..n + m).map(|trial| trial < a + b).collect();
            let mut dealt = Vec::new();
            for hand in 0u32..1 << (n + m) {
                if hand.count_ones() as usize == *n {
                    let passed = trials
                        .iter()
                        .enumerate()
                        .filter(|(trial, passed)| **passed && hand >> trial & 1 == 1)
                        .count();
                    dealt.push(unit * ((passed * m) as i128 - ((a + b - passed) * n) as i128));
                }
            }
            found += unit * ((a * m) as i128 - (b * n) as i128);
            let chance = 1.0 / dealt.len() as f64;
            ways = ways
                .iter()
                .flat_map(|(sum, own)| dealt.iter().map(move |more| (sum + more, own * chance)))
                .collect();
        }
        ways.iter()
            .filter(|(sum, _)| sum.abs() >= found.abs())
            .map(|(_, chance)| chance)
            .sum()
    }

    #[test]
    fn every_way_is_counted() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..300 {
            let strata = random.usize(1..=3);
            let counts: Vec<Counts> = (0..strata)
                .map(|_| {
                    let (n, m) = (random.usize(1..=4), random.usize(1..=4));
                    ((random.usize(0..=n), n), (random.usize(0..=m), m))
                })
                .collect();
            close(p(&counts), by_enumeration(&counts));
        }
    }

    #[test]
    fn one_stratum_with_equal_arms_is_fisher() {
        for n in 1..12 {
            for a in 0..=n {
                for b in 0..=n {
                    close(p(&[((a, n), (b, n))]), fisher((a, n - a), (b, n - b)));
                }
            }
        }
    }

    #[test]
    fn the_smallest_p_is_that_of_the_clearest_result() {
        for (evals, trials) in [(1, 4), (4, 4), (6, 1), (5, 2)] {
            let clearest = vec![((trials, trials), (0, trials)); evals];
            close(smallest_p(&vec![(trials, trials); evals]), p(&clearest));
        }
        close(smallest_p(&[]), 1.0);
    }

    #[test]
    fn one_trial_per_arm_is_mcnemar() {
        for (better, worse, same) in [(6, 0, 0), (5, 0, 3), (7, 2, 4), (3, 3, 1), (40, 21, 60)] {
            let counts = [
                vec![((1, 1), (0, 1)); better],
                vec![((0, 1), (1, 1)); worse],
                vec![((1, 1), (1, 1)); same],
            ]
            .concat();
            close(p(&counts), mcnemar(better, worse));
        }
    }

    #[test]
    fn weights_of_environments_count() {
        // One eval in two environments and one in a single environment: the second counts as much as the first two.
        let stratum = |arm, baseline, share| Stratum {
            share,
            ..Stratum::equal(&[(arm, baseline)])[0]
        };
        let strata = [
            stratum((2, 2), (0, 2), 4),
            stratum((2, 2), (0, 2), 4),
            stratum((2, 2), (0, 2), 2),
        ];
        // The largest difference comes about in one of 6³ ways, and so does its mirror image.
        close(p_value(&strata).unwrap(), 2.0 / 216.0);
    }

    /// Arms of many different sizes have no common denominator that fits, and too many sums: p is then a little too
    /// large, never too small.
    #[test]
    fn beyond_the_limits_it_is_not_too_small() {
        let primes = [
            53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113,
        ];
        let counts: Vec<Counts> = primes
            .windows(2)
            .map(|pair| ((pair[0] / 2 + 4, pair[0]), (pair[1] / 2, pair[1])))
            .collect();
        let strata = Stratum::equal(&counts);
        let refs: Vec<&Stratum> = strata.iter().collect();
        assert!(!Scale::of(&refs).is_exact);
        let p = p_value(&strata).unwrap();
        // The normal approximation, with the exact variance of the difference.
        let variance: f64 = counts
            .iter()
            .map(|((a, n), (b, m))| {
                let (n, m, k) = (*n as f64, *m as f64, (a + b) as f64);
                let total = n + m;
                let in_arm = k * (n / total) * (m / total) * (total - k) / (total - 1.0);
                in_arm * (1.0 / n + 1.0 / m).powi(2) / (counts.len() as f64).powi(2)
            })
            .sum();
        let z = super::super::stratum::difference(&strata).unwrap() / variance.sqrt();
        let normal =
            1.0 - crate::stats::special::incomplete_beta(z * z / (z * z + 1e6), 0.5, 1e6 / 2.0);
        assert!((p / normal - 1.0).abs() < 0.05, "{p} {normal}");
    }

    #[test]
    fn nothing_to_compare() {
        assert_eq!(p_value(&[]), Err(CannotTell::NoEvals));
        assert_eq!(
            p_value(&Stratum::equal(&[((0, 0), (1, 2))])),
            Err(CannotTell::NoTrials)
        );
        close(p(&[((3, 3), (3, 3)); 7]), 1.0);
        close(p(&[((0, 3), (0, 5)), ((3, 3), (3, 3))]), 1.0);
    }
}
