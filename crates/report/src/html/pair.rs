//! The trials that are worth reading beside each other: a failure and a success of the same eval. And all trials of an eval, a
//! dot for each.

use std::cmp::Reverse;
use std::collections::HashMap;

use maud::{Markup, html};
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::run::outcome::Status;
use terca_core::run::state::{RunState, Trial};

use super::matrix::Matrix;
use super::text::sign;

/// Returns the address of two trials beside each other.
pub fn pair_address((first, second): (u32, u32)) -> String {
    format!("#pair-{first}-{second}")
}

/// A trial as far as a choice goes: its id and its ending.
pub type Ended = (u32, Status);

/// The trials of a run by their cells, to choose two of them.
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
    let baseline = baseline.iter();
    most_telling(baseline.flat_map(|one| arm.iter().map(move |other| (*one, *other))))
}

fn most_telling(pairs: impl Iterator<Item = (Ended, Ended)>) -> Option<(u32, u32)> {
    let telling = pairs.max_by_key(|((one, first), (other, second))| {
        let is_better = *second == Status::Passed;
        let earlier = Reverse((*one, *other));
        (contrast(*first, *second), is_better, earlier)
    });
    telling.map(|((one, _), (other, _))| (one, other))
}

/// Returns the trial to compare a trial with, if there is another of its eval in its environment.
pub fn counterpart<'a>(state: &'a RunState, trial: &Trial) -> Option<&'a Trial> {
    let head = &trial.head;
    let is_baseline = head.experiment == state.baseline();
    let is_other_side = |other: &Trial| match is_baseline {
        true => other.head.experiment != head.experiment,
        false => other.head.experiment == state.baseline(),
    };
    let ended = |trial: &Trial| (trial.head.id, trial.report.status);
    let among = |is_it: &dyn Fn(&Trial) -> bool| {
        let others = state.trials().iter().filter(|other| {
            let other_head = &other.head;
            other_head.eval == head.eval
                && other_head.environment == head.environment
                && other_head.id != head.id
                && is_it(other)
        });
        most_telling(others.map(|other| (ended(trial), ended(other))))
    };
    let (_, other) = among(&is_other_side).or_else(|| among(&|_| true))?;
    state.trial(other)
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
    most_telling(trials.iter().enumerate().flat_map(|(index, one)| {
        let later = &trials[index + 1..];
        later.iter().map(move |other| (*one, *other))
    }))
}

/// More dots and more variants are counted.
const MOST_DOTS: usize = 10;
const MOST_VARIANTS: usize = 8;

/// Returns the other trials of the same eval, a line of dots for each variant, that of the trial first.
pub fn siblings(state: &RunState, matrix: &Matrix<'_>, trial: &Trial) -> Markup {
    let head = &trial.head;
    let own = (head.environment.as_str(), head.experiment.as_str());
    let others = matrix.variants.iter().filter(|variant| **variant != own);
    let hidden = (matrix.variants.len()).saturating_sub(MOST_VARIANTS);
    let shown = std::iter::once(&own).chain(others).take(MOST_VARIANTS);
    let lines = shown.filter_map(|(environment, experiment)| {
        let is_it = |other: &&Trial| {
            other.head.eval == head.eval
                && other.head.environment == *environment
                && other.head.experiment == *experiment
        };
        let trials: Vec<&Trial> = state.trials().iter().filter(is_it).collect();
        (!trials.is_empty()).then(|| (matrix.variant_name(environment, experiment), trials))
    });
    html! {
        div.siblings {
            @for (name, trials) in lines {
                span.variant-dots {
                    span { (name) }
                    @for other in near(&trials, head.id) { (dot(other, head.id)) }
                    @if trials.len() > MOST_DOTS { span { "of " (trials.len()) } }
                }
            }
            @if hidden > 0 { span { "and " (hidden) " more" } }
            @if let Some(other) = counterpart(state, trial) {
                a.button.compare href=(pair_address(beside(state, trial, other))) {
                    "Compare with #" (other.head.id) " ("
                    (matrix.variant_name(&other.head.environment, &other.head.experiment))
                    ", " (other.report.status.as_str()) ")"
                }
            }
        }
    }
}

/// Returns the first trials, or those around the one that is shown.
fn near<'a, 'b>(trials: &'b [&'a Trial], current: u32) -> &'b [&'a Trial] {
    let place = trials.iter().position(|trial| trial.head.id == current);
    let first = place.unwrap_or(0).saturating_sub(MOST_DOTS / 2);
    let first = first.min(trials.len().saturating_sub(MOST_DOTS));
    &trials[first..trials.len().min(first + MOST_DOTS)]
}

/// Puts the baseline first.
fn beside(state: &RunState, trial: &Trial, other: &Trial) -> (u32, u32) {
    match other.head.experiment == state.baseline() && trial.head.experiment != state.baseline() {
        true => (other.head.id, trial.head.id),
        false => (trial.head.id, other.head.id),
    }
}

fn dot(trial: &Trial, current: u32) -> Markup {
    let head = &trial.head;
    let status = trial.report.status;
    let label = format!(
        "#{}, repetition {}: {}",
        head.id,
        head.repetition,
        status.as_str()
    );
    let is_current = (head.id == current).then_some("page");
    html! {
        a class={ "sibling " (status.as_str()) } href={ "#trial-" (head.id) } aria-label=(label)
            aria-current=[is_current] { (sign(status)) }
    }
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
