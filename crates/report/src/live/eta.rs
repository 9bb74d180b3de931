//! An estimate of the time that the rest of a run will take.
//!
//! The estimate goes by trials that were judged: an error ends early, or after a wait that says nothing about work, and
//! a trial that was cut short would have taken longer. A variant goes by its own trials where it has some (an agent may
//! be twice as slow as another), else by all. A trial in flight that has taken longer than the mean already counts
//! with the time it has taken: else the quick ones, which end first, would promise too much.

use jiff::Timestamp;
use terca_core::run::state::{RunState, Took, Trial, VariantProgress};

use crate::live::time_limits::seconds_between;

/// Returns the seconds until the trials that are known of have ended. Unknown until one was judged, and when what is in
/// flight has taken longer than it should and nothing waits.
pub fn seconds_left(state: &RunState, now: Timestamp) -> Option<f64> {
    let ages: Vec<(usize, f64)> = state
        .in_flight()
        .filter_map(|trial| Some((trial.variant(), age(trial, now)?)))
        .collect();
    let variants = state.variants();
    let means = means(&variants, &ages)?;
    let mut trials = ages.len();
    let mut work = 0.0;
    let mut longest: f64 = 0.0;
    for (variant, age) in &ages {
        let rest = (means[*variant] - age).max(0.0);
        work += rest;
        longest = longest.max(rest);
    }
    for (variant, mean) in variants.iter().zip(&means) {
        if variant.waiting > 0 {
            trials += variant.waiting;
            work += variant.waiting as f64 * mean;
            longest = longest.max(*mean);
        }
    }
    // No more trials than there are can share the work, and the longest has to end.
    let lanes = state.concurrency().min(trials).max(1);
    let left = (work / lanes as f64).max(longest);
    (left >= 1.0).then_some(left)
}

fn age(trial: &Trial, now: Timestamp) -> Option<f64> {
    let live = trial.live.as_ref()?;
    Some(seconds_between(live.since, now))
}

/// Returns how long a trial of each variant takes. `ages` are those of the trials in flight, with their variants.
fn means(variants: &[VariantProgress], ages: &[(usize, f64)]) -> Option<Vec<f64>> {
    let mut all = Took::default();
    for variant in variants {
        all.trials += variant.took.trials;
        all.seconds += variant.took.seconds;
    }
    let overall = all.mean()?;
    let mut took: Vec<Took> = variants.iter().map(|variant| variant.took).collect();
    for (variant, age) in ages {
        if *age > variants[*variant].took.mean().unwrap_or(overall) {
            took[*variant].add(*age);
        }
    }
    let means = took.into_iter().map(|took| took.mean().unwrap_or(overall));
    Some(means.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use terca_core::run::event::{EventKind, StoppedVariant};
    use terca_core::trial_error::{ErrorKind, TrialError};

    fn estimate(script: &Script) -> Option<f64> {
        seconds_left(&script.state, script.now)
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
        script.add(EventKind::VariantStopped(StoppedVariant {
            environment: "gemini".to_owned(),
            experiment: "with-rules".to_owned(),
            error: TrialError::new(ErrorKind::Auth, "no key"),
            trials: 3,
        }));
        assert_eq!(estimate(&script), Some(30.0));
    }
}
