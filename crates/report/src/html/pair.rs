//! The trials that are worth reading beside each other: a failure and a success of the same eval.

use terca_core::run::outcome::Status;
use terca_core::run::state::{RunState, Trial};

/// Returns the address of two trials beside each other.
pub fn pair_address((first, second): (u32, u32)) -> String {
    format!("#pair-{first}-{second}")
}

/// Returns the two trials to compare for a cell of the heat map, by the names of its eval, environment and experiment: one
/// of the baseline, and one of the variant. Of the baseline itself, two of its repetitions. They end differently where any
/// two do.
pub fn default_pair(
    state: &RunState,
    eval: &str,
    (environment, experiment): (&str, &str),
) -> Option<(u32, u32)> {
    let baseline = state.baseline();
    let of = |experiment: &str| -> Vec<&Trial> {
        let trials = state.trials().iter().filter(|trial| {
            let head = &trial.head;
            head.eval == eval && head.environment == environment && head.experiment == experiment
        });
        trials.collect()
    };
    let ours = of(experiment);
    let theirs = match experiment == baseline {
        true => Vec::new(),
        false => of(baseline),
    };
    let (first, second) = match theirs.is_empty() {
        true => two_of(&ours)?,
        false => best(&theirs, &ours)?,
    };
    Some((first.head.id, second.head.id))
}

/// Returns the trial to compare a trial with, if there is another of its eval in its environment.
pub fn counterpart<'a>(state: &'a RunState, trial: &Trial) -> Option<&'a Trial> {
    let head = &trial.head;
    let others = || {
        state.trials().iter().filter(|other| {
            let other = &other.head;
            other.eval == head.eval && other.environment == head.environment && other.id != head.id
        })
    };
    let is_baseline = head.experiment == state.baseline();
    let other_side = others().filter(|other| {
        let is_same = other.head.experiment == head.experiment;
        let is_other_baseline = other.head.experiment == state.baseline();
        match is_baseline {
            true => !is_same,
            false => is_other_baseline,
        }
    });
    let by_contrast = |other: &&Trial| {
        let is_passed = other.report.status == Status::Passed;
        let earlier = std::cmp::Reverse(other.head.id);
        (contrast(trial, other), is_passed, earlier)
    };
    other_side
        .max_by_key(by_contrast)
        .or_else(|| others().max_by_key(by_contrast))
}

/// Returns how much two endings have to tell beside each other.
fn contrast(first: &Trial, second: &Trial) -> u32 {
    let value = |trial: &Trial| match trial.report.status {
        Status::Passed => Some(2),
        Status::Partial => Some(1),
        Status::Failed => Some(0),
        _ => None,
    };
    match (value(first), value(second)) {
        (Some(first), Some(second)) => 1 + u32::abs_diff(first, second),
        _ => 0,
    }
}

fn best<'a>(first: &[&'a Trial], second: &[&'a Trial]) -> Option<(&'a Trial, &'a Trial)> {
    let pairs = first
        .iter()
        .flat_map(|one| second.iter().map(move |other| (*one, *other)));
    // A baseline that failed against an experiment that passed comes before the reverse, and earlier trials before later.
    pairs.max_by_key(|(one, other)| {
        let is_better = other.report.status == Status::Passed;
        let ids = (one.head.id, other.head.id);
        (contrast(one, other), is_better, std::cmp::Reverse(ids))
    })
}

fn two_of<'a>(trials: &[&'a Trial]) -> Option<(&'a Trial, &'a Trial)> {
    let pairs = trials.iter().enumerate().flat_map(|(index, one)| {
        let later = &trials[index + 1..];
        later.iter().map(move |other| (*one, *other))
    });
    pairs.max_by_key(|(one, other)| {
        (
            contrast(one, other),
            std::cmp::Reverse((one.head.id, other.head.id)),
        )
    })
}

#[cfg(test)]
mod tests {
    use terca_core::run::event::RunStatus;

    use super::*;
    use crate::fixture::{self, Script};

    /// One eval, two variants, three repetitions; these ids pass.
    fn state(passing: &[u32]) -> RunState {
        let mut script = Script::new(fixture::heads(1, 2, 3), 4);
        for id in 1..=6 {
            let report = match passing.contains(&id) {
                true => fixture::passed(20.0),
                false => fixture::failed(30.0, "check", "no"),
            };
            script.start(id).finish(id, &report);
        }
        script.end(RunStatus::Complete);
        script.state
    }

    #[test]
    fn a_failure_against_a_success() {
        let cell = |state: &RunState, number: usize| {
            let head = &state.trials()[number].head;
            default_pair(state, &head.eval, (&head.environment, &head.experiment))
        };
        let mixed = state(&[1, 5]);
        assert_eq!(mixed.baseline(), mixed.trials()[0].head.experiment);
        assert_eq!(cell(&mixed, 3), Some((2, 5)), "the baseline failed first");
        assert_eq!(cell(&mixed, 0), Some((1, 2)), "two of the baseline");
        assert_eq!(cell(&state(&[1, 2, 3]), 3), Some((1, 4)));
        assert_eq!(
            cell(&state(&[]), 3),
            Some((1, 4)),
            "no difference: the first ones"
        );
        assert_eq!(default_pair(&mixed, "no such eval", ("a", "b")), None);
    }

    #[test]
    fn every_trial_has_a_counterpart() {
        let mixed = state(&[1, 5]);
        let of = |id: u32| {
            let trial = mixed.trial(id).unwrap();
            counterpart(&mixed, trial).unwrap().head.id
        };
        assert_eq!([of(1), of(2), of(4), of(5)], [4, 5, 1, 2]);
    }
}
