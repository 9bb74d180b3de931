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
//! bounded: the denominator's size and the number of steps on which sums are counted. Beyond them, sums are rounded away
//! from 0. That makes p larger, never smaller. Suites whose arms have a few different numbers of trials are far from both.

use super::CannotTell;
use super::special::ln_choose;
use super::stratum::{Stratum, check};

/// A common denominator is not larger than this.
const FINEST: i128 = 1 << 80;
/// The most steps on which sums are counted.
const STEPS: i128 = 1 << 18;

/// Returns the chance of a difference at least as far from 0 as the one found, if the experiment changes nothing.
pub fn p_value(strata: &[Stratum]) -> Result<f64, CannotTell> {
    check(strata)?;
    // Where all trials or none passed, there is one way only, and its difference is 0.
    let is_open = |stratum: &&Stratum| {
        let passed = stratum.arm.passed + stratum.baseline.passed;
        passed > 0 && passed < stratum.arm.trials + stratum.baseline.trials
    };
    let open: Vec<Stratum> = strata.iter().filter(is_open).copied().collect();
    let denominator = common_denominator(&open);
    let towards_zero = |stratum: &Stratum| {
        let numerator = numerator(stratum, stratum.arm.passed);
        -rounded_up(-numerator.abs(), stratum, denominator) * numerator.signum()
    };
    let found = open.iter().map(towards_zero).sum::<i128>().abs();
    if found == 0 {
        return Ok(1.0);
    }
    let swapped = open.iter().map(|stratum| Stratum {
        arm: stratum.baseline,
        baseline: stratum.arm,
        ..*stratum
    });
    let swapped: Vec<Stratum> = swapped.collect();
    let tail = |strata: &[Stratum]| upper_tail(&Group::all(strata, denominator), found);
    Ok((tail(&open) + tail(&swapped)).min(1.0))
}

/// Returns the smallest p that any result of so many trials could have, in each stratum with the experiment and without.
pub fn smallest_p(trials: &[(usize, usize)]) -> f64 {
    let ways: f64 = trials.iter().map(|(n, m)| ln_choose(n + m, *n)).sum();
    (2.0 * (-ways).exp()).min(1.0)
}

/// Returns a denominator of all weighted differences, or the largest one that is allowed.
fn common_denominator(strata: &[Stratum]) -> i128 {
    let own = strata.iter().map(own_denominator);
    let common = own.into_iter().try_fold(1i128, |common, own| {
        Some(common / greatest_common_divisor(common, own) * own).filter(|common| *common <= FINEST)
    });
    common.unwrap_or(FINEST)
}

/// Returns a difference of a stratum over the common denominator.
fn rounded_up(numerator: i128, stratum: &Stratum, denominator: i128) -> i128 {
    let own = own_denominator(stratum);
    // Whole parts first, so that nothing overflows.
    let whole = numerator.div_euclid(own);
    let rest = numerator.rem_euclid(own);
    whole * denominator + (rest * denominator + own - 1).div_euclid(own)
}

fn own_denominator(stratum: &Stratum) -> i128 {
    stratum.share as i128 * stratum.arm.trials as i128 * stratum.baseline.trials as i128
}

/// Returns the difference over the stratum's own denominator, if so many of those that passed were in the arm.
fn numerator(stratum: &Stratum, in_arm: usize) -> i128 {
    let passed = stratum.arm.passed + stratum.baseline.passed;
    in_arm as i128 * stratum.baseline.trials as i128
        - (passed - in_arm) as i128 * stratum.arm.trials as i128
}

fn greatest_common_divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The sum over strata whose differences have the same step between them.
#[derive(Debug)]
struct Group {
    lowest: i128,
    step: i128,
    /// The chances of the lowest sum and of those that follow, a step each.
    chances: Vec<f64>,
}

impl Group {
    fn all(strata: &[Stratum], denominator: i128) -> Vec<Self> {
        let mut groups: Vec<Group> = Vec::new();
        for stratum in strata {
            let one = Group::of(stratum, denominator);
            match groups.iter_mut().find(|group| group.step == one.step) {
                Some(group) => {
                    group.lowest += one.lowest;
                    group.chances = convolved(&group.chances, one.chances.into_iter().enumerate());
                }
                None => groups.push(one),
            }
        }
        groups
    }

    fn of(stratum: &Stratum, denominator: i128) -> Self {
        let (n, m) = (stratum.arm.trials, stratum.baseline.trials);
        let passed = stratum.arm.passed + stratum.baseline.passed;
        let fewest = passed.saturating_sub(m);
        let most = passed.min(n);
        let chance = |in_arm: usize| {
            (ln_choose(n, in_arm) + ln_choose(m, passed - in_arm) - ln_choose(n + m, passed)).exp()
        };
        Group {
            lowest: rounded_up(numerator(stratum, fewest), stratum, denominator),
            step: rounded_up((n + m) as i128, stratum, denominator),
            chances: (fewest..=most).map(chance).collect(),
        }
    }
}

/// Returns the chances of sums, where the second summand is so many places further with each of its chances.
fn convolved(sums: &[f64], other: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
    let mut more = Vec::new();
    for (offset, chance) in other {
        more.resize(more.len().max(offset + sums.len()), 0.0);
        for (sum, own) in more[offset..].iter_mut().zip(sums) {
            *sum += own * chance;
        }
    }
    more
}

/// Returns the chance of a sum that reaches the limit.
fn upper_tail(groups: &[Group], limit: i128) -> f64 {
    let range = |group: &Group| group.step * (group.chances.len() as i128 - 1);
    let lowest: i128 = groups.iter().map(|group| group.lowest).sum();
    let steps = groups.iter().map(|group| group.step);
    let finest = steps.fold(0, greatest_common_divisor);
    let width = finest.max(groups.iter().map(range).sum::<i128>() / STEPS + 1);
    let mut sums = vec![1.0];
    for group in groups {
        let place = |step: usize| ((group.step * step as i128 + width - 1) / width) as usize;
        let chances = group.chances.iter().enumerate();
        sums = convolved(&sums, chances.map(|(step, chance)| (place(step), *chance)));
    }
    let below = (limit - lowest - 1).div_euclid(width) + 1;
    sums.iter().skip(below.max(0) as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::fisher::fisher;

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
            let n = better + worse;
            let tail = (0..=better.min(worse))
                .map(|k| (ln_choose(n, k) - n as f64 * std::f64::consts::LN_2).exp());
            close(p(&counts), (2.0 * tail.sum::<f64>()).min(1.0));
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
        assert_eq!(common_denominator(&strata), FINEST);
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
