//! Two runs: the same evals in the same variants, the later run against the earlier one.

use std::collections::BTreeSet;

use super::matching::{Case, Matching, Names, OneSided, cases, changes};
use super::{COMPARED_VERSION, CompareError, Compared, check, distinct};
use crate::analysis::summary::{By, compare_by};
use crate::plan::fingerprint::CaseFingerprint;
use crate::run::event::TrialHead;
use crate::run::state::{RunState, Trial};

/// A run as one side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Arm<'a> {
    /// What it is called: two runs of two suites may have the same name.
    pub name: &'a str,
    pub state: &'a RunState,
    /// What its cases were made from, if it says so.
    pub prints: Option<&'a [CaseFingerprint]>,
}

/// Only what both runs have is compared. Evals that changed are told, and left out only when that is asked for.
pub fn between(
    baseline: Arm<'_>,
    other: Arm<'_>,
    margin: f64,
    only_unchanged: bool,
) -> Result<Compared, CompareError> {
    check(baseline.state)?;
    check(other.state)?;
    let (first, second) = (cases(baseline.state), cases(other.state));
    let mut common: BTreeSet<Case<'_>> = first.intersection(&second).copied().collect();
    let (only_in_baseline, only_in_other) = (
        OneSided::of(baseline.state, other.state),
        OneSided::of(other.state, baseline.state),
    );
    let names = || (baseline.name.to_owned(), other.name.to_owned());
    if common.is_empty() {
        let (first, second) = names();
        let reasons = nothing_in_common([(&first, &only_in_baseline), (&second, &only_in_other)]);
        return Err(CompareError::NothingInCommon {
            first,
            second,
            reasons,
        });
    }
    let changes = changes(baseline.prints, other.prints, &common);
    if only_unchanged {
        let is_changed = |eval: &str| {
            changes
                .as_ref()
                .is_some_and(|changes| changes.evals.contains_key(eval))
        };
        common.retain(|(eval, ..)| !is_changed(eval));
        if common.is_empty() {
            let (first, second) = names();
            return Err(CompareError::AllChanged { first, second });
        }
    }
    let trials = [renamed(other, &common), renamed(baseline, &common)].concat();
    let evals = distinct(trials.iter().map(|trial| trial.head.eval.as_str()));
    let matching = Matching {
        evals: evals.into_iter().map(str::to_owned).collect(),
        only_in_baseline,
        only_in_other,
        changes,
        changed_left_out: only_unchanged,
    };
    // Where one of them stopped when it had seen enough, the test has to allow for it.
    let adaptive = other.state.adaptive.or(baseline.state.adaptive);
    let state = RunState {
        trials,
        adaptive,
        ..other.state.clone()
    };
    Ok(Compared {
        version: COMPARED_VERSION,
        suite: other.state.suite.clone(),
        by: By::Run,
        runs: vec![baseline.name.to_owned(), other.name.to_owned()],
        baseline: baseline.name.to_owned(),
        margin,
        comparisons: compare_by(By::Run, &state, baseline.name, margin),
        matching: Some(matching),
    })
}

fn nothing_in_common(sides: [(&String, &OneSided); 2]) -> String {
    let lines = sides.map(|(name, only)| format!("  only in {name}: {}", only.words()));
    lines.join("\n")
}

/// The run's name in the place of the experiment, the variant in that of the environment.
fn renamed(arm: Arm<'_>, common: &BTreeSet<Case<'_>>) -> Vec<Trial> {
    let names = Names::of(common);
    let trials = arm.state.trials.iter().filter(|trial| {
        let head = &trial.head;
        common.contains(&(
            head.eval.as_str(),
            head.environment.as_str(),
            head.experiment.as_str(),
        ))
    });
    let rename = |trial: &Trial| {
        let head = TrialHead {
            environment: names.variant(&trial.head.environment, &trial.head.experiment),
            experiment: arm.name.to_owned(),
            ..trial.head.clone()
        };
        Trial {
            head,
            ..trial.clone()
        }
    };
    trials.map(rename).collect()
}
