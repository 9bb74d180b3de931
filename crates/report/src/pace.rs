//! How long trials take, and so how long the rest will.
//!
//! The estimate goes by trials that were judged: an error ends early, or after a wait that says nothing about work, and
//! a trial that was cut short would have taken longer. A variant goes by its own trials where it has some (an agent may
//! be twice as slow as another), else by all. A trial in flight that has taken longer than the mean already counts
//! with the time it has taken: else the quick ones, which end first, would promise too much.

use jiff::Timestamp;
use terca_core::run::event::{Event, EventKind, TrialHead};
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::run::state::{Live, RunState, Trial};

use crate::memo::seconds_between;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pace {
    /// In the order in which they were met.
    variants: Vec<Variant>,
}

#[derive(Debug, Clone, PartialEq)]
struct Variant {
    environment: String,
    experiment: String,
    /// Trials that are yet to be started.
    waiting: usize,
    took: Took,
}

/// The time of some trials together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Took {
    trials: usize,
    seconds: f64,
}

impl Took {
    fn add(&mut self, seconds: f64) {
        self.trials += 1;
        self.seconds += seconds;
    }

    fn mean(self) -> Option<f64> {
        (self.trials > 0).then(|| self.seconds / self.trials as f64)
    }
}

impl Pace {
    pub fn of(state: &RunState) -> Self {
        let mut pace = Pace::default();
        for trial in &state.trials {
            pace.of_variant(&trial.head).waiting +=
                usize::from(is_open(trial) && trial.live.is_none());
            pace.ended(&trial.head, &trial.report);
        }
        for stopped in &state.stopped_variants {
            pace.stopped(&stopped.environment, &stopped.experiment);
        }
        pace
    }

    /// Keeps up with an event that the state knows of already.
    pub fn note(&mut self, event: &Event, state: &RunState) {
        match &event.kind {
            EventKind::RoundStarted { trials, .. } => {
                for trial in trials.iter().filter_map(|id| state.trial(*id)) {
                    self.of_variant(&trial.head).waiting += 1;
                }
            }
            EventKind::TrialStarted { trial } => {
                if let Some(trial) = state.trial(*trial).filter(|trial| is_open(trial)) {
                    let variant = self.of_variant(&trial.head);
                    variant.waiting = variant.waiting.saturating_sub(1);
                }
            }
            EventKind::AttemptFailed { trial, .. } => {
                if let Some(trial) = state.trial(*trial) {
                    self.of_variant(&trial.head).waiting += 1;
                }
            }
            EventKind::TrialFinished { trial, report } => {
                if let Some(trial) = state.trial(*trial) {
                    self.of_variant(&trial.head).waiting += usize::from(is_open(trial));
                    self.ended(&trial.head, report);
                }
            }
            EventKind::VariantStopped {
                environment,
                experiment,
                ..
            } => {
                self.stopped(environment, experiment);
            }
            _ => {}
        }
    }

    fn ended(&mut self, head: &TrialHead, report: &TrialReport) {
        if report.status.is_judged() {
            self.of_variant(head).took.add(report.duration_seconds);
        }
    }

    /// What is left of it will not be started.
    fn stopped(&mut self, environment: &str, experiment: &str) {
        if let Some(place) = self.place(environment, experiment) {
            self.variants[place].waiting = 0;
        }
    }

    fn place(&self, environment: &str, experiment: &str) -> Option<usize> {
        let is_it = |variant: &Variant| {
            variant.experiment == experiment && variant.environment == environment
        };
        self.variants.iter().position(is_it)
    }

    fn of_variant(&mut self, head: &TrialHead) -> &mut Variant {
        let place = self
            .place(&head.environment, &head.experiment)
            .unwrap_or_else(|| {
                let (environment, experiment) = (head.environment.clone(), head.experiment.clone());
                self.variants.push(Variant {
                    environment,
                    experiment,
                    waiting: 0,
                    took: Took::default(),
                });
                self.variants.len() - 1
            });
        &mut self.variants[place]
    }

    /// The seconds until the trials that are known of have ended. Unknown until one was judged, and when what is in
    /// flight has taken longer than it should and nothing waits.
    pub fn seconds_left(&self, state: &RunState, now: Timestamp) -> Option<f64> {
        let flying: Vec<(usize, f64)> = state
            .in_flight
            .iter()
            .filter_map(|index| state.trials.get(*index))
            .filter_map(|trial| Some((self.place_of(trial)?, age(trial.live.as_ref()?, now))))
            .collect();
        let means = self.means(&flying)?;
        let rest: Vec<f64> = flying
            .iter()
            .map(|(place, age)| (means[*place] - age).max(0.0))
            .collect();
        let waiting = || {
            self.variants
                .iter()
                .zip(&means)
                .filter(|(variant, _)| variant.waiting > 0)
        };
        let number: usize = waiting().map(|(variant, _)| variant.waiting).sum();
        let work = rest.iter().sum::<f64>()
            + waiting()
                .map(|(variant, mean)| variant.waiting as f64 * mean)
                .sum::<f64>();
        // No more trials than there are can share the work, and the longest has to end.
        let lanes = state.concurrency.min(number + rest.len()).max(1);
        let longest = rest
            .iter()
            .copied()
            .chain(waiting().map(|(_, mean)| *mean))
            .fold(0.0, f64::max);
        let left = (work / lanes as f64).max(longest);
        (left >= 1.0).then_some(left)
    }

    fn place_of(&self, trial: &Trial) -> Option<usize> {
        self.place(&trial.head.environment, &trial.head.experiment)
    }

    /// How long a trial of each variant takes.
    fn means(&self, flying: &[(usize, f64)]) -> Option<Vec<f64>> {
        let all = self
            .variants
            .iter()
            .fold(Took::default(), |all, variant| Took {
                trials: all.trials + variant.took.trials,
                seconds: all.seconds + variant.took.seconds,
            });
        let overall = all.mean()?;
        let mut took: Vec<Took> = self.variants.iter().map(|variant| variant.took).collect();
        for (place, age) in flying {
            if *age > self.variants[*place].took.mean().unwrap_or(overall) {
                took[*place].add(*age);
            }
        }
        Some(
            took.into_iter()
                .map(|took| took.mean().unwrap_or(overall))
                .collect(),
        )
    }
}

fn age(live: &Live, now: Timestamp) -> f64 {
    seconds_between(live.since, now)
}

fn is_open(trial: &Trial) -> bool {
    matches!(trial.report.status, Status::Pending | Status::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use terca_core::run::event::{EventKind, RunStatus};
    use terca_core::trial_error::{ErrorKind, TrialError};

    fn estimate(script: &Script) -> Option<f64> {
        Pace::of(&script.state).seconds_left(&script.state, script.now)
    }

    #[test]
    fn the_estimate_is_the_mean_over_what_is_left() {
        // Ten trials of 20 s, two at a time.
        let mut script = Script::new(fixture::heads(10, 1, 1), 2);
        script.start(1).start(2).pass(20.0);
        script.finish(1, &fixture::passed(20.0));
        // One in flight for 20 s (so due now), eight waiting: 160 s of work for two.
        assert_eq!(estimate(&script), Some(80.0));
        script.start(3).pass(4.0);
        // The second takes 24 s at least, so the mean is 22 s: seven waiting, one with 18 s to go.
        assert_eq!(estimate(&script), Some((7.0 * 22.0 + 18.0) / 2.0));
    }

    #[test]
    fn there_is_no_estimate_without_ground() {
        let mut script = Script::new(fixture::heads(4, 1, 1), 2);
        script.start(1).start(2).pass(5.0);
        assert_eq!(estimate(&script), None, "nothing finished");
        script.finish(1, &fixture::interrupted(1.0));
        assert_eq!(estimate(&script), None, "what was cut short does not count");
        script.start(3).finish(3, &fixture::error("no key"));
        assert_eq!(estimate(&script), None, "nor what could not be judged");
        let mut script = Script::new(fixture::heads(2, 1, 1), 2);
        script.start(1).start(2).pass(5.0);
        script.finish(1, &fixture::passed(5.0)).pass(60.0);
        assert_eq!(estimate(&script), None, "overdue");
    }

    #[test]
    fn each_variant_goes_by_its_own_trials() {
        // Four evals in two variants, one at a time: 10 s in the first and 100 s in the second.
        let mut script = Script::new(fixture::heads(4, 2, 1), 1);
        script.start(1).pass(10.0).finish(1, &fixture::passed(10.0));
        assert_eq!(
            estimate(&script),
            Some(70.0),
            "what is not known is taken to be like the rest"
        );
        script
            .start(2)
            .pass(100.0)
            .finish(2, &fixture::passed(100.0));
        assert_eq!(estimate(&script), Some(3.0 * 110.0));
        script.start(3).pass(10.0).finish(3, &fixture::passed(10.0));
        assert_eq!(estimate(&script), Some(2.0 * 10.0 + 3.0 * 100.0));
    }

    #[test]
    fn the_last_trial_is_waited_for() {
        // Concurrency does not make one trial faster.
        let mut script = Script::new(fixture::heads(9, 1, 1), 8);
        for id in 1..=8 {
            script.start(id);
        }
        script.pass(40.0);
        for id in 1..=8 {
            script.finish(id, &fixture::passed(40.0));
        }
        assert_eq!(estimate(&script), Some(40.0));
        script.start(9).pass(10.0);
        assert_eq!(estimate(&script), Some(30.0));
        // Nor does one that is nearly done help one that has just begun.
        let mut script = Script::new(fixture::heads(3, 1, 1), 2);
        script.start(1).start(2).pass(40.0);
        script.finish(1, &fixture::passed(40.0)).start(3);
        assert_eq!(estimate(&script), Some(40.0));
    }

    #[test]
    fn what_will_not_be_started_takes_no_time() {
        let mut script = Script::new(fixture::heads(4, 2, 1), 1);
        script.start(1).pass(10.0).finish(1, &fixture::passed(10.0));
        script.start(2).finish(2, &fixture::error("no key"));
        script.add(EventKind::VariantStopped {
            environment: "gemini".to_owned(),
            experiment: "with-rules".to_owned(),
            error: TrialError::new(ErrorKind::Auth, "no key"),
            trials: 3,
        });
        assert_eq!(estimate(&script), Some(30.0));
    }

    #[test]
    fn keeping_up_is_the_same_as_looking_anew() {
        let mut script = Script::new(fixture::heads(3, 2, 2), 2);
        let mut kept = Pace::of(&script.state);
        let mut state = script.state.clone();
        let before = script.events.len();
        script
            .start(1)
            .start(2)
            .finish(1, &fixture::passed(20.0))
            .finish(2, &fixture::interrupted(3.0));
        script.start(3);
        script.add(EventKind::AttemptFailed {
            trial: 3,
            report: Box::new(fixture::error("429")),
            wait_seconds: 1.0,
        });
        script
            .start(3)
            .finish(3, &fixture::error("429"))
            .start(4)
            .end(RunStatus::Complete);
        for event in &script.events[before..] {
            state.apply(event);
            kept.note(event, &state);
            assert_eq!(kept, Pace::of(&state), "{event:?}");
        }
    }
}
