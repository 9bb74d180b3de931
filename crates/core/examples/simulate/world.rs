//! Suites whose truth is known, so that what is said about them can be checked.

use terca_core::analysis::summary::{DEFAULT_MARGIN, Effect, Verdict};
use terca_core::stats::paired::difference_of_rates;
use terca_core::stats::student;

/// A population of evals, and how they are asked.
#[derive(Debug, Clone, Copy)]
pub struct World {
    pub evals: usize,
    pub repetitions: usize,
    /// By how much the experiment raises the chance to pass, in the mean over all evals there could be.
    pub effect: f64,
    /// By how much an eval's own effect may be off the mean, to either side.
    pub spread: f64,
    /// The share of evals that always pass or never do, in both arms.
    pub settled: f64,
}

/// What became of many runs in a world.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    pub runs: usize,
    /// The interval of the difference held the true one.
    pub covered: usize,
    /// The interval of the baseline's pass rate held the true one.
    pub rate_covered: usize,
    pub better: usize,
    pub worse: usize,
    pub equivalent: usize,
}

impl World {
    pub fn simulate(&self, runs: usize, seed: u64) -> Tally {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tally = Tally {
            runs,
            ..Tally::default()
        };
        for run in 0..runs {
            self.run_once(&mut random, run as u64, &mut tally);
        }
        tally
    }

    /// The true difference: settled evals have none.
    pub fn truth(&self) -> f64 {
        self.effect * (1.0 - self.settled)
    }

    fn run_once(&self, random: &mut fastrand::Rng, seed: u64, tally: &mut Tally) {
        let pairs: Vec<(f64, f64)> = (0..self.evals).map(|_| self.eval(random)).collect();
        let Ok(found) = difference_of_rates(&pairs, seed) else {
            return;
        };
        let baseline: Vec<f64> = pairs.iter().map(|(_, baseline)| *baseline).collect();
        let covers = |interval: Result<terca_core::stats::Interval, _>, truth| {
            usize::from(interval.is_ok_and(|interval| interval.contains(truth)))
        };
        tally.covered += covers(found.interval, self.truth());
        tally.rate_covered += covers(student::interval_of_rates(&baseline), 0.5);
        let p = found.p.ok();
        let effect = Effect {
            interval: found.interval.ok(),
            p,
            p_adjusted: p,
            ..Effect::default()
        };
        match Verdict::of(&effect, DEFAULT_MARGIN) {
            Verdict::Better => tally.better += 1,
            Verdict::Worse => tally.worse += 1,
            Verdict::Equivalent => tally.equivalent += 1,
            Verdict::Inconclusive => {}
        }
    }

    /// The share of passes in the experiment's arm and in the baseline's. Baseline rates are even about one half.
    fn eval(&self, random: &mut fastrand::Rng) -> (f64, f64) {
        if random.f64() < self.settled {
            let always = f64::from(u8::from(random.bool()));
            return (always, always);
        }
        let baseline = 0.3 + 0.4 * random.f64();
        let own_effect = self.effect + self.spread * (2.0 * random.f64() - 1.0);
        let mut share = |chance: f64| {
            (0..self.repetitions)
                .filter(|_| random.f64() < chance)
                .count() as f64
                / self.repetitions as f64
        };
        (share(baseline + own_effect), share(baseline))
    }
}
