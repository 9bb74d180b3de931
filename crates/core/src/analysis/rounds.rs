//! Adaptive repetitions: which trials are wanted next.
//!
//! A run has all its trials planned from the start, so that ids and folders are known; those beyond the fewest
//! repetitions are spare. When everything that is wanted has ended, the comparisons are looked at, and each that is
//! undecided calls one more repetition of every eval in both its arms: a round. What is decided calls nothing more.
//! Looking so often does no harm, since comparisons are decided by an anytime-valid test (`stats::sequential`); and an
//! arm is never left because of how it did, but because of what is known about it and its partner.

use crate::analysis::distinct::distinct;
use crate::analysis::summary::standings;
use crate::analysis::validation::telling;
use crate::run::event::TrialHead;
use crate::run::state::RunState;

/// One more repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// The number of comparisons that ask for it.
    pub undecided: usize,
    /// The ids of its trials.
    pub trials: Vec<u32>,
}

/// The next round; `None` when every comparison is decided, or there is nothing left that could decide it.
pub fn next(state: &RunState) -> Option<Round> {
    if state.spare().is_empty() {
        return None;
    }
    if state.tries_tricks() {
        return telling_round(state);
    }
    let is_stopped = |environment: &str, experiment: &str| {
        let mut stopped = state.stopped_variants().iter();
        stopped.any(|known| known.environment == environment && known.experiment == experiment)
    };
    // Undecided, and able to get on: neither arm was stopped.
    let mut undecided = standings(state);
    undecided.retain(|open| {
        !open.decided
            && !is_stopped(&open.environment, &open.experiment)
            && !is_stopped(&open.environment, state.baseline())
    });
    let is_wanted = |head: &&TrialHead| {
        undecided.iter().any(|open| {
            head.environment == open.environment
                && (head.experiment == open.experiment || head.experiment == state.baseline())
        })
    };
    let wanted: Vec<&TrialHead> = state.spare().iter().filter(is_wanted).collect();
    let repetition = wanted.iter().map(|head| head.repetition).min()?;
    let trials: Vec<u32> = wanted
        .iter()
        .filter(|head| head.repetition == repetition)
        .map(|head| head.id)
        .collect();
    Some(Round {
        repetition,
        undecided: undecided.len(),
        trials,
    })
}

/// Returns the trials that name the tricks which work, where sets of them do.
fn telling_round(state: &RunState) -> Option<Round> {
    let told = telling(state);
    let evals = distinct(told.iter().map(|head| head.eval.as_str()));
    Some(Round {
        repetition: told.first()?.repetition,
        undecided: evals.len(),
        trials: told.iter().map(|head| head.id).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::adaptive::Adaptive;
    use crate::run::event::{Event, EventKind, RunStart, StopReason, StoppedVariant};
    use crate::run::outcome::{Status, TrialReport};
    use crate::trial_error::{ErrorKind, TrialError};
    use jiff::Timestamp;

    const MAX: u32 = 12;

    /// Two evals in two environments, each with a baseline `a` and the experiments `b` and `c`.
    struct Play {
        state: RunState,
    }

    impl Play {
        fn new(min: u32) -> Self {
            let mut heads = Vec::new();
            for eval in ["one", "two"] {
                for environment in ["x", "y"] {
                    for experiment in ["a", "b", "c"] {
                        heads.extend(
                            (1..=MAX).map(|repetition| (eval, environment, experiment, repetition)),
                        );
                    }
                }
            }
            let trials = heads.into_iter().zip(1..).map(
                |((eval, environment, experiment, repetition), id)| TrialHead {
                    id,
                    eval: eval.into(),
                    environment: environment.into(),
                    experiment: experiment.into(),
                    repetition,
                    dir: format!("{id}").into(),
                    agent: "nop".into(),
                    model: None,
                },
            );
            let mut play = Play {
                state: RunState::default(),
            };
            play.tell(EventKind::RunStarted(Box::new(RunStart {
                run: "r".into(),
                suite: "s".into(),
                terca_version: "0".into(),
                seed: 1,
                concurrency: 1,
                baseline: "a".into(),
                adaptive: Some(Adaptive { min, max: MAX }),
                trials: trials.collect(),
                ..RunStart::default()
            })));
            play
        }

        fn tell(&mut self, kind: EventKind) {
            self.state.apply(&Event {
                seq: 0,
                at: Timestamp::UNIX_EPOCH,
                kind,
            });
        }

        /// Ends everything that is pending.
        fn end_all(&mut self, passes: impl Fn(&TrialHead) -> bool) {
            let pending: Vec<TrialHead> = self.pending().cloned().collect();
            for head in pending {
                let status = if passes(&head) {
                    Status::Passed
                } else {
                    Status::Failed
                };
                let report = Box::new(TrialReport {
                    status,
                    ..TrialReport::pending()
                });
                self.tell(EventKind::TrialFinished {
                    trial: head.id,
                    report,
                });
            }
        }

        fn pending(&self) -> impl Iterator<Item = &TrialHead> {
            let pending = self
                .state
                .trials()
                .iter()
                .filter(|trial| trial.report.status == Status::Pending);
            pending.map(|trial| &*trial.head)
        }

        fn start(
            &mut self,
            Round {
                repetition,
                undecided,
                trials,
            }: Round,
        ) {
            self.tell(EventKind::RoundStarted {
                repetition,
                undecided,
                trials,
            });
        }

        /// The variants that the next round asks for.
        fn asked(&self) -> Vec<String> {
            let Some(round) = next(&self.state) else {
                return Vec::new();
            };
            let of_it = self
                .state
                .spare()
                .iter()
                .filter(|head| round.trials.contains(&head.id));
            let mut variants: Vec<String> = of_it
                .map(|head| format!("{}.{}", head.environment, head.experiment))
                .collect();
            variants.sort();
            variants.dedup();
            variants
        }
    }

    #[test]
    fn the_fewest_first_then_one_by_one_to_the_most() {
        let mut play = Play::new(3);
        assert_eq!(play.pending().count(), 36);
        let mut rounds = Vec::new();
        loop {
            play.end_all(|_| true);
            let Some(round) = next(&play.state) else {
                break;
            };
            assert_eq!((round.undecided, round.trials.len()), (4, 12));
            rounds.push(round.repetition);
            play.start(round);
        }
        assert_eq!(rounds, (4..=MAX).collect::<Vec<_>>());
        assert_eq!(
            (play.state.counts().total, play.state.counts().passed),
            (144, 144)
        );
    }

    /// Four comparisons: with twelve pairs to one side the e-value is 315, and 160 is enough for the first of them.
    #[test]
    fn what_is_decided_asks_for_nothing_more_and_the_baseline_for_what_is_not() {
        let mut play = Play::new(6);
        let b_helps_in_x =
            |head: &TrialHead| (head.environment.as_str(), head.experiment.as_str()) == ("x", "b");
        play.end_all(b_helps_in_x);
        assert_eq!(play.asked(), ["x.a", "x.c", "y.a", "y.b", "y.c"]);
        let mut play = Play::new(5);
        play.end_all(b_helps_in_x);
        assert_eq!(
            play.asked().len(),
            6,
            "ten pairs are not enough for one of four"
        );
        let mut play = Play::new(6);
        play.end_all(|head| head.environment == "x" && head.experiment != "a");
        assert_eq!(
            play.asked(),
            ["y.a", "y.b", "y.c"],
            "an environment is done by itself"
        );
        let mut play = Play::new(6);
        play.end_all(|head| head.experiment == "a");
        assert_eq!(play.asked(), [""; 0], "all are worse");
    }

    /// Passing is no reason to stop, and neither is failing: only a difference is.
    #[test]
    fn arms_that_do_alike_go_on() {
        for passes in [true, false] {
            let mut play = Play::new(MAX - 1);
            play.end_all(|_| passes);
            assert_eq!(play.asked().len(), 6);
        }
    }

    #[test]
    fn a_variant_that_was_stopped_is_asked_for_no_more() {
        let mut play = Play::new(1);
        play.end_all(|_| true);
        let stop = |experiment: &str| {
            EventKind::VariantStopped(StoppedVariant {
                environment: "x".into(),
                experiment: experiment.into(),
                error: TrialError::new(ErrorKind::Auth, "401"),
                trials: 1,
            })
        };
        play.tell(stop("b"));
        assert_eq!(play.asked(), ["x.a", "x.c", "y.a", "y.b", "y.c"]);
        play.tell(stop("a"));
        assert_eq!(play.asked(), ["y.a", "y.b", "y.c"]);
    }

    #[test]
    fn a_round_that_was_cut_is_made_whole() {
        let mut play = Play::new(1);
        play.end_all(|_| true);
        play.start(next(&play.state).unwrap());
        let begun = play.pending().next().unwrap().id;
        play.tell(EventKind::TrialStarted {
            trial: begun,
            on: None,
        });
        play.tell(EventKind::Stopping {
            reason: StopReason::Budget,
        });
        assert_eq!(
            play.pending().map(|head| head.id).collect::<Vec<_>>(),
            [begun]
        );
        assert_eq!(play.state.in_flight().len(), 1);
        play.end_all(|_| true);
        play.tell(EventKind::RunResumed {
            terca_version: "0".into(),
            concurrency: 1,
        });
        let rest = next(&play.state).unwrap();
        assert_eq!((rest.repetition, rest.trials.len()), (2, 11));
        assert!(!rest.trials.contains(&begun));
    }
}
