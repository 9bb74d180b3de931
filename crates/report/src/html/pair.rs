//! The trials that are worth reading beside each other: a failure and a success of the same eval.

use std::cmp::Reverse;
use std::collections::HashMap;

use terca_core::analysis::results::{Results, TrialResult};
use terca_core::run::outcome::Status;
use terca_core::run::state::{RunState, Trial};

/// Returns the address of two trials beside each other.
pub fn pair_address((first, second): (u32, u32)) -> String {
    format!("#pair-{first}-{second}")
}

/// A trial as far as a choice goes: its id and its ending.
pub type Ended = (u32, Status);

/// The trials of a run by their cells, to choose two of them.
#[derive(Debug)]
pub struct Cells<'a> {
    baseline: &'a str,
    trials: HashMap<(&'a str, &'a str, &'a str), Vec<Ended>>,
}

impl<'a> Cells<'a> {
    /// Sorts the trials of a run.
    pub fn of(results: &'a Results) -> Self {
        let mut trials: HashMap<_, Vec<Ended>> = HashMap::new();
        for TrialResult { head, report, .. } in &results.trials {
            let key = (&*head.eval, &*head.environment, &*head.experiment);
            trials
                .entry(key)
                .or_default()
                .push((head.id, report.status));
        }
        let baseline = &results.summary.baseline;
        Cells { baseline, trials }
    }

    /// Returns the address of the two trials to compare for a cell, by the names of its eval, environment and experiment: one of
    /// the baseline, and one of the variant. Of the baseline itself, two of its repetitions.
    pub fn pair(&self, (eval, environment, experiment): (&str, &str, &str)) -> Option<String> {
        let ours = self.trials.get(&(eval, environment, experiment))?;
        let theirs = self.trials.get(&(eval, environment, self.baseline));
        let pair = match theirs.filter(|_| experiment != self.baseline) {
            Some(theirs) => telling_pair(theirs, ours),
            None => two_of(ours),
        };
        pair.map(pair_address)
    }
}

/// Returns the two trials that tell most beside each other. They end differently where any two do: a baseline that failed against an experiment
/// that passed comes before the reverse, and earlier trials before later.
pub fn telling_pair(baseline: &[Ended], arm: &[Ended]) -> Option<(u32, u32)> {
    let pairs = baseline
        .iter()
        .flat_map(|one| arm.iter().map(move |other| (*one, *other)));
    let telling = pairs.max_by_key(|(one, other)| {
        let is_better = other.1 == Status::Passed;
        (
            contrast(one.1, other.1),
            is_better,
            Reverse((one.0, other.0)),
        )
    });
    telling.map(|(one, other)| (one.0, other.0))
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
        let endings = (trial.report.status, other.report.status);
        (
            contrast(endings.0, endings.1),
            is_passed,
            Reverse(other.head.id),
        )
    };
    other_side
        .max_by_key(by_contrast)
        .or_else(|| others().max_by_key(by_contrast))
}

/// Returns how much two endings have to tell beside each other.
fn contrast(first: Status, second: Status) -> u32 {
    let value = |status| match status {
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

fn two_of(trials: &[Ended]) -> Option<(u32, u32)> {
    let pairs = trials.iter().enumerate().flat_map(|(index, one)| {
        let later = &trials[index + 1..];
        later.iter().map(move |other| (*one, *other))
    });
    let telling =
        pairs.max_by_key(|(one, other)| (contrast(one.1, other.1), Reverse((one.0, other.0))));
    telling.map(|(one, other)| (one.0, other.0))
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
            let results = Results::of(state);
            let head = &state.trials()[number].head;
            Cells::of(&results).pair((&head.eval, &head.environment, &head.experiment))
        };
        let pair = |one: u32, other: u32| Some(format!("#pair-{one}-{other}"));
        let mixed = state(&[1, 5]);
        assert_eq!(mixed.baseline(), mixed.trials()[0].head.experiment);
        assert_eq!(cell(&mixed, 3), pair(2, 5), "the baseline failed first");
        assert_eq!(cell(&mixed, 0), pair(1, 2), "two of the baseline");
        assert_eq!(cell(&state(&[1, 2, 3]), 3), pair(1, 4));
        assert_eq!(
            cell(&state(&[]), 3),
            pair(1, 4),
            "no difference: the first ones"
        );
        let results = Results::of(&mixed);
        assert_eq!(Cells::of(&results).pair(("no such eval", "a", "b")), None);
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
