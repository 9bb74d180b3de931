//! The statistics against published values, laws, and suites whose truth is known.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so and ends"
)]

#[path = "../examples/simulate/ablation.rs"]
#[cfg(test)]
mod ablation;
#[path = "../examples/simulate/adaptive.rs"]
#[cfg(test)]
mod adaptive;
#[path = "../examples/simulate/world.rs"]
#[cfg(test)]
mod world;

use ablation::AblationWorld;
use adaptive::AdaptiveWorld;
use proptest::collection::vec;
use proptest::prelude::*;
use terca_core::config::adaptive::Adaptive;
use terca_core::stats::fisher::fisher;
use terca_core::stats::holm::holm;
use terca_core::stats::permutation::{self, Values};
use terca_core::stats::power::evals_needed;
use terca_core::stats::reliability::{pass_at_k, pass_hat_k};
use terca_core::stats::special::student_quantile;
use terca_core::stats::stratum::{self, Count, Stratum, TwoArms};
use terca_core::stats::wilson::{newcombe, wilson};
use terca_core::stats::{Interval, miettinen_nurminen, stratified_exact};
use world::World;

/// The trials that passed, and all trials.
type Passed = (usize, usize);

/// Strata of equal weight from `(passed, trials)` of the arm and of the baseline.
fn equal(counts: &[(Passed, Passed)]) -> Vec<Stratum> {
    let count = |(passed, trials)| Count { passed, trials };
    let stratum = |(arm, baseline): &(Passed, Passed)| Stratum {
        arm: count(*arm),
        baseline: count(*baseline),
        share: counts.len(),
    };
    counts.iter().map(stratum).collect()
}

/// Equal to the digits that were printed.
#[track_caller]
fn printed(found: f64, expected: &str) {
    let (digits, exponent) = expected.split_once('e').unwrap_or((expected, "0"));
    let decimals = digits
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let scaled = found / 10f64.powi(exponent.parse().unwrap());
    assert_eq!(
        format!("{scaled:.decimals$}"),
        digits,
        "{found} is not {expected}"
    );
}

#[track_caller]
fn printed_interval(found: Interval, low: &str, high: &str) {
    printed(found.low, low);
    printed(found.high, high);
}

/// Two arms on a few evals: the difference, the exact p and the 95 % and 90 % intervals.
#[test]
fn two_arms_on_a_few_evals() {
    type Counts = ((usize, usize), (usize, usize));
    type Row<'a> = (Vec<Counts>, &'a str, &'a str, [&'a str; 2], [&'a str; 2]);
    let rows: [Row<'_>; 8] = [
        (
            vec![
                ((4, 4), (1, 4)),
                ((4, 4), (2, 4)),
                ((3, 4), (1, 4)),
                ((4, 4), (0, 4)),
            ],
            "0.6875",
            "0.000260308205",
            ["0.3739761", "0.8680920"],
            ["0.4310834", "0.8485640"],
        ),
        (
            vec![((10, 10), (0, 10))],
            "1",
            "1.08250882e-5",
            ["0.6636416", "1"],
            ["0.7507048", "1"],
        ),
        (
            vec![((9, 10), (7, 10))],
            "0.2",
            "0.582043344",
            ["-0.1799562", "0.5406910"],
            ["-0.1137481", "0.4910001"],
        ),
        (
            vec![((1, 1), (0, 1)); 6],
            "1",
            "0.03125",
            ["0.2193314", "1"],
            ["0.3784320", "1"],
        ),
        (
            [vec![((1, 1), (0, 1)); 9], vec![((0, 1), (1, 1))]].concat(),
            "0.8",
            "0.021484375",
            ["0.1916999", "0.9642476"],
            ["0.3045627", "0.9547302"],
        ),
        (
            vec![((3, 3), (1, 4)), ((2, 5), (0, 2)), ((4, 4), (3, 4))],
            "0.4666667",
            "0.043537415",
            ["0.0753813", "0.7283313"],
            ["0.1585467", "0.6941375"],
        ),
        (
            vec![((3, 3), (3, 3)); 7],
            "0",
            "1",
            ["-0.1799998", "0.1799998"],
            ["-0.1339010", "0.1339010"],
        ),
        (
            [vec![((7, 10), (6, 10)); 11], vec![((0, 10), (10, 10))]].concat(),
            "0.0083333",
            "1",
            ["-0.1156604", "0.1315901"],
            ["-0.0958522", "0.1119887"],
        ),
    ];
    for (counts, difference, p, wide, narrow) in rows {
        let strata = equal(&counts);
        printed(stratum::difference(&strata).unwrap(), difference);
        printed(stratified_exact::p_value(&strata).unwrap(), p);
        for (level, [low, high]) in [(0.95, wide), (0.9, narrow)] {
            let interval = miettinen_nurminen::interval(&strata, level).unwrap();
            printed_interval(interval, low, high);
        }
    }
    let newcombes = equal(&[((56, 70), (48, 80))]);
    let interval = miettinen_nurminen::interval(&newcombes, 0.95).unwrap();
    printed_interval(interval, "0.0528297", "0.3381729");
}

#[test]
fn wilson_as_published() {
    for (passed, trials, low, high) in [
        (18, 20, "0.6989663548", "0.9721335188"),
        (4, 20, "0.0806576626", "0.4160174323"),
        (15, 148, "0.0623864", "0.1604872"),
        (0, 20, "0", "0.1611252"),
        (7, 50, "0.0695083", "0.2618619"),
    ] {
        printed_interval(wilson(passed, trials).unwrap(), low, high);
    }
}

#[test]
fn two_arms_as_published() {
    printed_interval(newcombe((56, 70), (48, 80)).unwrap(), "0.0524", "0.3339");
    printed(fisher((3, 1), (1, 3)), "0.4857142857");
    // The exact McNemar test is that of one trial in each arm.
    for (better, worse, p) in [
        (121, 59, "4.4344493e-6"),
        (80, 59, "0.089452315"),
        (6, 0, "0.03125"),
        (5, 0, "0.0625"),
    ] {
        let pairs = [
            vec![((1, 1), (0, 1)); better],
            vec![((0, 1), (1, 1)); worse],
        ];
        printed(
            stratified_exact::p_value(&equal(&pairs.concat())).unwrap(),
            p,
        );
    }
}

#[test]
fn reliability_as_published() {
    printed(pass_at_k(10, 3, 5).unwrap(), "0.9166667");
    printed(pass_at_k(200, 1, 100).unwrap(), "0.5");
    printed(pass_hat_k(8, 6, 2).unwrap(), "0.5357143");
}

#[test]
fn the_rest_as_published() {
    assert_eq!(evals_needed(1.0 / 9.0, 0.03), 969);
    let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
    for (found, expected) in adjusted.into_iter().zip(["0.03", "0.06", "0.06", "0.02"]) {
        printed(found, expected);
    }
    printed(student_quantile(0.975, 1.0), "12.70620474");
    printed(student_quantile(0.975, 4.0), "2.776445105");
    printed(student_quantile(0.975, 19.0), "2.093024054");
}

/// Arms of a few trials each.
fn counts() -> impl Strategy<Value = Vec<Stratum>> {
    let count = || {
        (1..=6usize, 0..=6usize).prop_map(|(trials, passed)| Count {
            passed: passed.min(trials),
            trials,
        })
    };
    vec((count(), count()), 1..24).prop_map(|arms| {
        let share = arms.len();
        let stratum = |(arm, baseline)| Stratum {
            arm,
            baseline,
            share,
        };
        arms.into_iter().map(stratum).collect()
    })
}

fn swapped(strata: &[Stratum]) -> Vec<Stratum> {
    let swap = |stratum: &Stratum| Stratum {
        arm: stratum.baseline,
        baseline: stratum.arm,
        ..*stratum
    };
    strata.iter().map(swap).collect()
}

/// Every way to deal the trials out, one by one: slow, and right.
fn enumerated(strata: &[Stratum]) -> f64 {
    let mut sums = vec![(0.0, 1.0)];
    for stratum in strata {
        let (n, m) = (stratum.arm.trials, stratum.baseline.trials);
        let passed = stratum.arm.passed + stratum.baseline.passed;
        let mut more = Vec::new();
        for hand in 0..1u32 << (n + m) {
            if hand.count_ones() as usize != n {
                continue;
            }
            // The trials that passed are the lowest bits.
            let in_arm = (hand & ((1 << passed) - 1)).count_ones() as f64;
            let rest = passed as f64 - in_arm;
            more.push((in_arm / n as f64 - rest / m as f64) * stratum.weight());
        }
        let chance = 1.0 / more.len() as f64;
        sums = sums
            .iter()
            .flat_map(|(sum, all)| more.iter().map(move |one| (sum + one, all * chance)))
            .collect();
    }
    let found = stratum::difference(strata).unwrap().abs() - 1e-12;
    let far = sums.iter().filter(|(sum, _)| sum.abs() >= found);
    far.map(|(_, chance)| chance).sum()
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn swapping_the_arms_flips_the_sign(strata in counts()) {
        let other = swapped(&strata);
        let (one_p, other_p) = (stratified_exact::p_value(&strata).unwrap(), stratified_exact::p_value(&other).unwrap());
        prop_assert!(near(one_p, other_p));
        for level in [0.9, 0.95] {
            let one = miettinen_nurminen::interval(&strata, level).unwrap();
            let other = miettinen_nurminen::interval(&other, level).unwrap();
            prop_assert!(near(one.low, -other.high) && near(one.high, -other.low));
        }
    }

    #[test]
    fn intervals_hold_their_estimate_and_are_numbers(strata in counts()) {
        let found = stratum::difference(&strata).unwrap();
        let wide = miettinen_nurminen::interval(&strata, 0.95).unwrap();
        let narrow = miettinen_nurminen::interval(&strata, 0.9).unwrap();
        for interval in [wide, narrow] {
            prop_assert!(interval.low - 1e-9 <= found && found <= interval.high + 1e-9);
            prop_assert!(interval.low < interval.high && interval.low >= -1.0 && interval.high <= 1.0);
        }
        prop_assert!(wide.low <= narrow.low + 1e-9 && narrow.high <= wide.high + 1e-9);
        let p = stratified_exact::p_value(&strata).unwrap();
        prop_assert!(p > 0.0 && p <= 1.0);
    }

    #[test]
    fn convolution_is_enumeration(strata in counts().prop_map(|mut strata| { strata.truncate(3); strata })) {
        let small: Vec<Stratum> = strata
            .iter()
            .filter(|stratum| stratum.arm.trials + stratum.baseline.trials <= 7)
            .map(|stratum| Stratum { share: 3, ..*stratum })
            .collect();
        if !small.is_empty() {
            prop_assert!(near(stratified_exact::p_value(&small).unwrap(), enumerated(&small)));
        }
    }

    #[test]
    fn the_first_of_k_is_the_pass_rate(trials in 1..60usize, share in 0.0..=1.0f64) {
        let passed = (share * trials as f64).round() as usize;
        let rate = passed as f64 / trials as f64;
        prop_assert!(near(pass_at_k(trials, passed, 1).unwrap(), rate));
        prop_assert!(near(pass_hat_k(trials, passed, 1).unwrap(), rate));
        for k in 1..trials {
            prop_assert!(pass_at_k(trials, passed, k + 1).unwrap() >= pass_at_k(trials, passed, k).unwrap());
            prop_assert!(pass_hat_k(trials, passed, k + 1).unwrap() <= pass_hat_k(trials, passed, k).unwrap());
        }
        prop_assert!(wilson(passed, trials).unwrap().contains(rate));
    }

    #[test]
    fn holm_is_monotone(raw in vec(0.0..=1.0f64, 0..12)) {
        let adjusted = holm(&raw);
        prop_assert_eq!(adjusted.len(), raw.len());
        for (one, more) in raw.iter().zip(&adjusted) {
            prop_assert!(more >= one && *more <= 1.0);
            for (other, other_more) in raw.iter().zip(&adjusted) {
                prop_assert!(one > other || more <= other_more);
            }
        }
        if let [only] = raw.as_slice() {
            prop_assert_eq!(adjusted[0], *only);
        }
    }

    #[test]
    fn fisher_is_a_probability(a in 0..40usize, b in 0..40usize, c in 0..40usize, d in 0..40usize) {
        let p = fisher((a, b), (c, d));
        prop_assert!(p > 0.0 && p <= 1.0);
        prop_assert!(near(p, fisher((c, d), (a, b))));
    }
}

/// Where nothing is going on, a p-value below x comes in a share x of all cases.
#[test]
fn permutation_p_is_uniform_under_the_null() {
    const CASES: usize = 1_000;
    let mut random = fastrand::Rng::with_seed(11);
    let mut values: Vec<f64> = (0..CASES)
        .map(|_| {
            let mut four = || (0..4).map(|_| random.f64()).collect();
            let strata: Vec<Values> = (0..2)
                .map(|_| Values {
                    arm: four(),
                    baseline: four(),
                    share: 2,
                })
                .collect();
            permutation::p_value(&strata).unwrap()
        })
        .collect();
    values.sort_by(f64::total_cmp);
    // The largest distance between the shares found and those expected (Kolmogorov), at 1 in 1,000.
    let limit = 1.95 / (CASES as f64).sqrt();
    for (rank, p) in values.iter().enumerate() {
        let share = (rank + 1) as f64 / CASES as f64;
        assert!((share - p).abs() < limit, "p ≤ {p} in {share} of all cases");
    }
}

/// The whole table is in `docs/explanations/statistics.md`.
#[test]
fn intervals_hold_the_truth_and_verdicts_are_rarely_wrong() {
    const RUNS: usize = 1_000;
    let plain = World {
        evals: 8,
        repetitions: 3,
        baseline: 0.5,
        effect: 0.0,
        spread: 0.0,
        settled: 0.0,
    };
    let worlds = [
        plain,
        World {
            evals: 5,
            repetitions: 10,
            spread: 0.3,
            ..plain
        },
        World {
            evals: 16,
            repetitions: 5,
            settled: 0.5,
            ..plain
        },
        World {
            evals: 5,
            repetitions: 10,
            baseline: 0.35,
            effect: 0.3,
            ..plain
        },
    ];
    for (seed, world) in worlds.into_iter().enumerate() {
        let tally = world.simulate(RUNS, seed as u64);
        let share = |count: usize| count as f64 / tally.runs as f64;
        assert!(share(tally.covered) >= 0.93, "{world:?}: {tally:?}");
        assert!(share(tally.wrong) <= 0.06, "{world:?}: {tally:?}");
        assert!(share(tally.wrong_beyond) <= 0.08, "{world:?}: {tally:?}");
        if world.effect > 0.0 {
            assert!(share(tally.better) > 0.75, "{world:?}: {tally:?}");
        }
    }
}

/// Looked at after every round, and still wrong in at most 1 run of 20; a large effect is found, and found early.
#[test]
fn looking_after_every_round_finds_no_more_by_chance() {
    const RUNS: usize = 200;
    let bounds = Adaptive { min: 1, max: 12 };
    let plain = AdaptiveWorld {
        evals: 6,
        bounds,
        experiments: 1,
        effect: 0.0,
        settled: 0.0,
    };
    for (seed, world) in [
        plain,
        AdaptiveWorld {
            experiments: 2,
            ..plain
        },
        AdaptiveWorld {
            settled: 0.5,
            ..plain
        },
    ]
    .into_iter()
    .enumerate()
    {
        let tally = world.simulate(RUNS, seed as u64);
        assert!(tally.found * 20 <= tally.runs, "{world:?}: {tally:?}");
        assert!(
            tally.repetitions > RUNS * 11,
            "without an effect it goes to the most: {tally:?}"
        );
    }
    let large = AdaptiveWorld {
        effect: 0.3,
        ..plain
    }
    .simulate(RUNS, 7);
    assert!(large.better > RUNS * 3 / 4 && large.worse == 0, "{large:?}");
    assert!(large.repetitions < RUNS * 10, "and stops early: {large:?}");
    assert!(
        large.trials < large.planned * 5 / 6 && large.equivalent == 0,
        "{large:?}"
    );
}

/// When no part works, at most 1 ablation of 20 says that one does; a part that works is found more often than by leaving
/// out one part at a time with as many trials.
#[test]
fn an_ablation_finds_what_works_and_little_else() {
    const RUNS: usize = 300;
    let world = AblationWorld {
        parts: 8,
        evals: 8,
        trials: 12,
        effect: 0.0,
        working: 0,
    };
    let nothing = world.factorial(RUNS, 1);
    assert_eq!(nothing.runs, RUNS);
    assert!(nothing.false_place <= RUNS / 20, "{nothing:?}");
    let world = AblationWorld {
        effect: 0.3,
        working: 1,
        ..world
    };
    let (all, one) = (world.factorial(RUNS, 2), world.leave_one_out(RUNS, 2));
    assert!(all.false_place <= RUNS / 20, "{all:?}");
    assert!(2 * all.found > RUNS, "{all:?}");
    assert!(all.found > 2 * one.found, "{all:?} {one:?}");
}
