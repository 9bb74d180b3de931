//! Ablations whose truth is known, beside leaving out one part at a time with the same number of trials.

use terca_core::ablation::{Ablation, EvalRows, Kind, Part};
use terca_core::analysis::summary::{DEFAULT_MARGIN, Effect, Verdict};
use terca_core::stats::holm::holm;
use terca_core::stats::stratum::{Count, Stratum};

/// A suite and an experiment with parts.
#[derive(Debug, Clone, Copy)]
pub struct AblationWorld {
    pub parts: usize,
    pub evals: usize,
    /// The trials of each eval.
    pub trials: usize,
    /// By how much each of the first parts raises the chance to pass.
    pub effect: f64,
    /// The number of parts that do.
    pub working: usize,
}

/// The results of many runs of one method.
#[derive(Debug, Clone, Copy, Default)]
pub struct AblationTally {
    pub runs: usize,
    /// A part without an effect was said to earn its place.
    pub false_place: usize,
    /// A part without an effect was said to earn its place or to hurt.
    pub false_any: usize,
    /// Working parts that were said to earn their place, over all runs.
    pub found: usize,
}

/// One trial: the eval, and whether each part is there.
type Played = (usize, Vec<bool>, bool);

impl AblationWorld {
    /// Runs the factorial design.
    pub fn factorial(&self, runs: usize, seed: u64) -> AblationTally {
        self.simulate(runs, seed, |random| {
            let design = self.design(random.u64(..))?;
            let rows = design.evals.iter().enumerate();
            let trials: Vec<(usize, Vec<bool>)> = rows
                .flat_map(|(eval, of)| of.rows.iter().map(move |row| (eval, *row)))
                .map(|(eval, row)| {
                    let has = |part: usize| design.rows[row].parts.contains(&part);
                    (eval, (0..self.parts).map(has).collect())
                })
                .collect();
            let played = self.play(&trials, random);
            let of_part = |part: usize| {
                let with = |(_, parts, _): &&Played| parts[part];
                self.strata(&played, |trial| Some(with(&trial)))
            };
            Some((0..self.parts).map(of_part).collect())
        })
    }

    /// Runs the whole experiment against the experiment without one part, for each part. The whole one gets the trials
    /// that the others leave.
    pub fn leave_one_out(&self, runs: usize, seed: u64) -> AblationTally {
        let each = (self.trials / (self.parts + 1)).max(1);
        let whole = self.trials - each * self.parts;
        self.simulate(runs, seed, |random| {
            let mut trials: Vec<(usize, Vec<bool>)> = Vec::new();
            for eval in 0..self.evals {
                trials.extend((0..whole).map(|_| (eval, vec![true; self.parts])));
                for part in 0..self.parts {
                    let without: Vec<bool> = (0..self.parts).map(|other| other != part).collect();
                    trials.extend((0..each).map(|_| (eval, without.clone())));
                }
            }
            let played = self.play(&trials, random);
            let of_part = |part: usize| {
                self.strata(&played, |(_, parts, _)| {
                    let missing = parts.iter().filter(|has| !**has).count();
                    match (missing, parts[part]) {
                        (0, _) => Some(true),
                        (_, false) => Some(false),
                        _ => None,
                    }
                })
            };
            Some((0..self.parts).map(of_part).collect())
        })
    }

    fn design(&self, seed: u64) -> Option<Ablation> {
        let part = |part: usize| Part::new(part.to_string(), None);
        let wanted = Ablation {
            experiment: "with-rules".into(),
            kind: Kind::Rules,
            split: None,
            sha256: None,
            parts: (0..self.parts).map(part).collect(),
            rows: Vec::new(),
            evals: (0..self.evals)
                .map(|eval| EvalRows::new(eval.to_string()))
                .collect(),
        };
        wanted.designed(Some(self.trials), seed).ok()
    }

    fn simulate(
        &self,
        runs: usize,
        seed: u64,
        run: impl Fn(&mut fastrand::Rng) -> Option<Vec<Vec<Stratum>>>,
    ) -> AblationTally {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tally = AblationTally::default();
        for _ in 0..runs {
            let Some(parts) = run(&mut random) else {
                continue;
            };
            tally.runs += 1;
            let verdicts = verdicts(&parts);
            let (working, others) = verdicts.split_at(self.working);
            let count = |verdict: Verdict| others.iter().filter(|one| **one == verdict).count();
            tally.false_place += usize::from(count(Verdict::Better) > 0);
            let wrong = count(Verdict::Better) + count(Verdict::Worse);
            tally.false_any += usize::from(wrong > 0);
            let found = working.iter().filter(|one| **one == Verdict::Better);
            tally.found += found.count();
        }
        tally
    }

    /// An eval's own chance is within 20 points of 50 % where half of the parts are there.
    fn play(&self, trials: &[(usize, Vec<bool>)], random: &mut fastrand::Rng) -> Vec<Played> {
        let evals: Vec<f64> = (0..self.evals)
            .map(|_| 0.5 + 0.4 * (random.f64() - 0.5))
            .collect();
        let mut played = Vec::new();
        for (eval, parts) in trials {
            let signs = parts[..self.working].iter();
            let sum: f64 = signs.map(|has| if *has { 0.5 } else { -0.5 }).sum();
            let chance = evals[*eval] + self.effect * sum;
            played.push((*eval, parts.clone(), random.f64() < chance));
        }
        played
    }

    /// The trials of each eval in two arms; `None` is in neither.
    fn strata(&self, played: &[Played], arm: impl Fn(&Played) -> Option<bool>) -> Vec<Stratum> {
        let count = |eval: usize, is_arm: bool| {
            let own = played
                .iter()
                .filter(|trial| trial.0 == eval && arm(trial) == Some(is_arm));
            let own: Vec<bool> = own.map(|(_, _, passed)| *passed).collect();
            Count {
                passed: own.iter().filter(|passed| **passed).count(),
                trials: own.len(),
            }
        };
        (0..self.evals)
            .map(|eval| Stratum {
                arm: count(eval, true),
                baseline: count(eval, false),
                share: self.evals,
            })
            .collect()
    }
}

/// The verdict on each part, by Holm's method over all.
fn verdicts(parts: &[Vec<Stratum>]) -> Vec<Verdict> {
    let effects: Vec<Effect> = (parts.iter())
        .map(|strata| Effect::of_counts(strata, &[]))
        .collect();
    let raw: Vec<f64> = effects
        .iter()
        .map(|effect| effect.p.unwrap_or(1.0))
        .collect();
    let adjusted = effects.into_iter().zip(holm(&raw));
    adjusted
        .map(|(effect, p)| {
            let effect = Effect {
                p_adjusted: Some(p),
                ..effect
            };
            Verdict::of(&effect, DEFAULT_MARGIN)
        })
        .collect()
}
