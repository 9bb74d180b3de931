//! Suites whose truth is known, so that verdicts on them can be checked.

use terca_core::analysis::summary::{Beyond, DEFAULT_MARGIN, Effect, Verdict};
use terca_core::stats::stratum::{Count, Stratum, TwoArms};
use terca_core::stats::{Interval, power};

/// A population of evals, and how they are asked.
#[derive(Debug, Clone, Copy)]
pub struct World {
    pub evals: usize,
    pub repetitions: usize,
    /// The chance to pass without the experiment, in the mean. An eval's own chance is within 20 points of it.
    pub baseline: f64,
    /// By how much the experiment raises the chance to pass, in the mean over all evals there could be.
    pub effect: f64,
    /// By how much an eval's own effect may be off the mean, to either side.
    pub spread: f64,
    /// The share of evals that always pass or never do, in both arms.
    pub settled: f64,
}

/// The results of many runs in a world.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    pub runs: usize,
    /// The interval held the true difference on these evals.
    pub covered: usize,
    pub better: usize,
    pub worse: usize,
    pub equivalent: usize,
    /// BETTER or WORSE, where the true difference on these evals is 0 or on the other side.
    pub wrong: usize,
    /// EQUIVALENT, where the true difference on these evals is the margin or more.
    pub wrong_equivalent: usize,
    /// The verdict is said to hold beyond these evals.
    pub beyond: usize,
    /// The same, where the true difference over all evals is 0 or on the other side.
    pub wrong_beyond: usize,
}

/// The true chances of one eval.
#[derive(Debug, Clone, Copy)]
struct Chances {
    arm: f64,
    baseline: f64,
}

impl World {
    pub fn simulate(&self, runs: usize, seed: u64) -> Tally {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tally = Tally {
            runs,
            ..Tally::default()
        };
        for _ in 0..runs {
            self.run_once(&mut random, &mut tally);
        }
        tally
    }

    /// The true difference over all evals there could be: settled evals have none.
    pub fn truth(&self) -> f64 {
        self.effect * (1.0 - self.settled)
    }

    fn run_once(&self, random: &mut fastrand::Rng, tally: &mut Tally) {
        let evals: Vec<Chances> = (0..self.evals).map(|_| self.eval(random)).collect();
        let strata = self.play(&evals, random);
        let sum: f64 = evals.iter().map(|eval| eval.arm - eval.baseline).sum();
        let truth = sum / self.evals as f64;
        let differences: Vec<f64> = strata.iter().map(TwoArms::difference).collect();
        let effect = Effect::of_counts(&strata, &differences);
        let covers =
            |interval: Interval| interval.low - 1e-9 <= truth && truth <= interval.high + 1e-9;
        tally.covered += usize::from(effect.interval.is_some_and(covers));
        let verdict = Verdict::of(&effect, DEFAULT_MARGIN);
        // Sums of chances are not exact.
        let is_wrong = |truth: f64| match verdict {
            Verdict::Better => truth < 1e-9,
            Verdict::Worse => truth > -1e-9,
            Verdict::Equivalent | Verdict::Inconclusive => false,
        };
        tally.better += usize::from(verdict == Verdict::Better);
        tally.worse += usize::from(verdict == Verdict::Worse);
        tally.wrong += usize::from(is_wrong(truth));
        let is_equivalent = verdict == Verdict::Equivalent;
        tally.equivalent += usize::from(is_equivalent);
        tally.wrong_equivalent += usize::from(is_equivalent && truth.abs() > DEFAULT_MARGIN - 1e-9);
        let holds = Beyond::of(verdict, &effect) == Some(Beyond::Holds);
        tally.beyond += usize::from(holds);
        tally.wrong_beyond += usize::from(holds && is_wrong(self.truth()));
    }

    /// Returns the share of runs in which the repetitions that a first run advises show the difference.
    #[allow(dead_code, reason = "the tests have no use for it")]
    pub fn power_of_advice(&self, runs: usize, seed: u64) -> f64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut found = 0;
        for _ in 0..runs {
            let evals: Vec<Chances> = (0..self.evals).map(|_| self.eval(&mut random)).collect();
            let first = self.play(&evals, &mut random);
            let Ok(luck) = power::luck(&first) else {
                continue;
            };
            let then = World {
                repetitions: power::repetitions_needed(self.evals, luck, self.effect, 1),
                ..*self
            };
            let strata = then.play(&evals, &mut random);
            let verdict = Verdict::of(&Effect::of_counts(&strata, &[]), DEFAULT_MARGIN);
            found += usize::from(verdict == Verdict::Better);
        }
        found as f64 / runs as f64
    }

    fn play(&self, evals: &[Chances], random: &mut fastrand::Rng) -> Vec<Stratum> {
        let mut strata = Vec::new();
        for eval in evals {
            let mut count = |chance: f64| Count {
                passed: (0..self.repetitions)
                    .filter(|_| random.f64() < chance)
                    .count(),
                trials: self.repetitions,
            };
            strata.push(Stratum {
                arm: count(eval.arm),
                baseline: count(eval.baseline),
                share: evals.len(),
            });
        }
        strata
    }

    fn eval(&self, random: &mut fastrand::Rng) -> Chances {
        if random.f64() < self.settled {
            let always = f64::from(u8::from(random.bool()));
            return Chances {
                arm: always,
                baseline: always,
            };
        }
        let baseline = self.baseline + 0.4 * (random.f64() - 0.5);
        let own_effect = self.effect + self.spread * (2.0 * random.f64() - 1.0);
        Chances {
            arm: (baseline + own_effect).clamp(0.0, 1.0),
            baseline,
        }
    }
}
