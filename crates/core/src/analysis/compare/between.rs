//! Two runs: the same evals in the same variants, the later run against the earlier one.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::matching::{Case, Matching, Names, OneSided, access_changes, cases, changes};
use super::{COMPARED_VERSION, CompareError, Compared, check};
use crate::analysis::distinct::distinct;
use crate::analysis::summary::{ArmTrial, Arms, By, compare_arms};
use crate::plan::fingerprint::CaseFingerprint;
use crate::run::state::RunState;

/// A run as one side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Arm<'a> {
    /// Its name in the answer: two runs of two suites may have the same name.
    pub name: &'a str,
    /// The run.
    pub state: &'a RunState,
    /// The fingerprints of its cases, if it has them.
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
    let mut trials = trials(other, &common);
    trials.extend(self::trials(baseline, &common));
    let evals = distinct(trials.iter().map(|trial| &*trial.trial.head.eval));
    let matching = Matching {
        evals: evals.into_iter().map(str::to_owned).collect(),
        only_in_baseline,
        only_in_other,
        changes,
        changed_left_out: only_unchanged,
        access: access_changes(baseline.state, other.state, &common),
    };
    // Where one of them stopped when it had seen enough, the test has to allow for it.
    let adaptive = [other.state, baseline.state].map(RunState::adaptive);
    let arms = Arms {
        margin,
        adaptive: adaptive.iter().flatten().map(|bounds| bounds.max).max(),
        ..Arms::new(By::Run, baseline.name, trials, other.state)
    };
    Ok(Compared {
        version: COMPARED_VERSION,
        suite: other.state.suite().to_owned(),
        by: By::Run,
        runs: vec![baseline.name.to_owned(), other.name.to_owned()],
        baseline: baseline.name.to_owned(),
        margin,
        comparisons: compare_arms(&arms),
        matching: Some(matching),
    })
}

fn nothing_in_common(sides: [(&String, &OneSided); 2]) -> String {
    let lines = sides.map(|(name, only)| format!("  only in {name}: {}", only.words()));
    lines.join("\n")
}

/// The trials of a run that are compared: the run is their arm, and their variant the place.
fn trials<'a>(arm: Arm<'a>, common: &BTreeSet<Case<'_>>) -> Vec<ArmTrial<'a>> {
    let names = Names::of(common);
    let mut trials = Vec::new();
    for trial in arm.state.trials() {
        let head = &trial.head;
        if common.contains(&(&head.eval, &head.environment, &head.experiment)) {
            trials.push(ArmTrial {
                arm: arm.name,
                place: Cow::Owned(names.variant(&head.environment, &head.experiment)),
                trial,
            });
        }
    }
    trials
}
