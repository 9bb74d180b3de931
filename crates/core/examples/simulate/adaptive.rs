//! Runs whose repetitions are added until the comparisons are decided, in suites whose truth is known.
//!
//! Trials are drawn here; which come next, and what is said in the end, is decided by the code that decides it in a
//! real run: `rounds::next` and the summary's verdicts.

use std::sync::Arc;

use jiff::Timestamp;
use terca_core::analysis::rounds;
use terca_core::analysis::summary::{DEFAULT_MARGIN, Verdict, compare};
use terca_core::config::adaptive::Adaptive;
use terca_core::run::event::{Event, EventKind, RunStart, RunStatus, TrialHead};
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::run::state::RunState;

/// A suite with a baseline and so many experiments, each of which raises every eval's chance by the same.
#[derive(Debug, Clone, Copy)]
pub struct AdaptiveWorld {
    pub evals: usize,
    pub bounds: Adaptive,
    pub experiments: usize,
    pub effect: f64,
    /// The share of evals that always pass or never do, in all arms.
    pub settled: f64,
}

/// What became of many runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct AdaptiveTally {
    pub runs: usize,
    /// Runs in which at least one experiment was called so.
    pub better: usize,
    pub worse: usize,
    /// Runs with at least one of the two.
    pub found: usize,
    pub equivalent: usize,
    /// The repetitions that were reached, summed up.
    pub repetitions: usize,
    /// The trials that were run, of all that were planned.
    pub trials: usize,
    pub planned: usize,
}

impl AdaptiveWorld {
    pub fn simulate(&self, runs: usize, seed: u64) -> AdaptiveTally {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tally = AdaptiveTally {
            runs,
            ..AdaptiveTally::default()
        };
        for _ in 0..runs {
            self.run_once(&mut random, &mut tally);
        }
        tally
    }

    fn run_once(&self, random: &mut fastrand::Rng, tally: &mut AdaptiveTally) {
        let baseline: Vec<f64> = (0..self.evals).map(|_| self.chance(random)).collect();
        let mut state = self.start();
        tally.planned += state.trials().len() + state.spare().len();
        loop {
            self.end_all(&mut state, &baseline, random);
            let Some(round) = rounds::next(&state) else {
                break;
            };
            let (repetition, undecided, trials) = (round.repetition, round.undecided, round.trials);
            tell(
                &mut state,
                EventKind::RoundStarted {
                    repetition,
                    undecided,
                    trials,
                },
            );
        }
        tell(
            &mut state,
            EventKind::RunFinished {
                status: RunStatus::Complete,
            },
        );
        let verdicts: Vec<Verdict> = compare(&state, "base", DEFAULT_MARGIN)
            .iter()
            .map(|comparison| comparison.verdict)
            .collect();
        let has = |verdict| usize::from(verdicts.contains(&verdict));
        tally.better += has(Verdict::Better);
        tally.worse += has(Verdict::Worse);
        tally.found += has(Verdict::Better).max(has(Verdict::Worse));
        tally.equivalent += has(Verdict::Equivalent);
        tally.trials += state.trials().len();
        tally.repetitions += state
            .trials()
            .iter()
            .map(|trial| trial.head.repetition)
            .max()
            .unwrap_or(0) as usize;
    }

    /// Returns how long all comparisons of a run take, with everything that they say.
    #[allow(dead_code, reason = "the tests assert no times")]
    pub fn seconds_to_compare(&self) -> f64 {
        let mut random = fastrand::Rng::with_seed(1);
        let baseline: Vec<f64> = (0..self.evals).map(|_| self.chance(&mut random)).collect();
        let mut state = self.start();
        self.end_all(&mut state, &baseline, &mut random);
        let start = std::time::Instant::now();
        let comparisons = compare(&state, "base", DEFAULT_MARGIN);
        assert_eq!(comparisons.len(), self.experiments);
        start.elapsed().as_secs_f64()
    }

    /// A chance of 0 or 1 is settled: no experiment changes it.
    fn chance(&self, random: &mut fastrand::Rng) -> f64 {
        if random.f64() < self.settled {
            return f64::from(u8::from(random.bool()));
        }
        0.3 + 0.4 * random.f64()
    }

    fn start(&self) -> RunState {
        let mut trials = Vec::new();
        for eval in 0..self.evals {
            for experiment in 0..=self.experiments {
                for repetition in 1..=self.bounds.max {
                    trials.push(TrialHead {
                        id: trials.len() as u32 + 1,
                        eval: format!("{eval}"),
                        environment: "e".into(),
                        experiment: if experiment == 0 {
                            "base".into()
                        } else {
                            format!("x{experiment}")
                        },
                        repetition,
                        dir: "".into(),
                        agent: "gemini-cli".into(),
                        model: None,
                    });
                }
            }
        }
        let mut state = RunState::default();
        let adaptive = Some(self.bounds);
        let (run, suite, baseline) = ("r".into(), "s".into(), "base".into());
        let (terca_version, seed, concurrency) = ("0".into(), 0, 1);
        tell(
            &mut state,
            EventKind::RunStarted(Box::new(RunStart {
                run,
                suite,
                terca_version,
                seed,
                concurrency,
                baseline,
                adaptive,
                trials,
                ..RunStart::default()
            })),
        );
        state
    }

    fn end_all(&self, state: &mut RunState, baseline: &[f64], random: &mut fastrand::Rng) {
        let pending = state
            .trials()
            .iter()
            .filter(|trial| trial.report.status == Status::Pending);
        let pending: Vec<Arc<TrialHead>> = pending.map(|trial| trial.head.clone()).collect();
        for head in pending {
            let chance = baseline[head.eval.parse::<usize>().unwrap_or(0)];
            let is_settled = chance == 0.0 || chance == 1.0;
            let chance = if head.experiment == "base" || is_settled {
                chance
            } else {
                chance + self.effect
            };
            let score = f64::from(u8::from(random.f64() < chance));
            let report = TrialReport {
                status: Status::of_score(score),
                score: Some(score),
                attempts: 1,
                ..TrialReport::pending()
            };
            tell(
                state,
                EventKind::TrialFinished {
                    trial: head.id,
                    report: Box::new(report),
                },
            );
        }
    }
}

fn tell(state: &mut RunState, kind: EventKind) {
    state.apply(&Event {
        seq: 0,
        at: Timestamp::UNIX_EPOCH,
        kind,
    });
}
