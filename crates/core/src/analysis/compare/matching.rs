//! The common part of two runs, the parts that only one of them has, and the changes in between.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::agent::access::Access;
use crate::plan::fingerprint::{CaseFingerprint, Changes};
use crate::run::event::TrialHead;
use crate::run::state::RunState;
use crate::text::prose;

/// The evals and variants of two runs, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Matching {
    /// The evals that are compared.
    pub evals: Vec<String>,
    /// The part that only the baseline has.
    pub only_in_baseline: OneSided,
    /// The part that only the other run has.
    pub only_in_other: OneSided,
    /// The changes of the common part; `null` when a run does not say what it was made from.
    pub changes: Option<Changes>,
    /// Changed evals were left out of the comparison.
    pub changed_left_out: bool,
    /// The variants whose agents were led to other services, or signed in by other means.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<AccessChange>,
}

/// A variant whose agents were led to other services, or signed in by other means, in the other run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessChange {
    /// The variant, as `environment.experiment`.
    pub variant: String,
    /// The services and credentials of the baseline's trials, by name.
    pub baseline: Vec<String>,
    /// Those of the other run.
    pub other: Vec<String>,
}

/// Returns the variants of the common part whose services or credentials differ. A run that does not say is passed
/// over.
pub(super) fn access_changes(
    baseline: &RunState,
    other: &RunState,
    common: &BTreeSet<Case<'_>>,
) -> Vec<AccessChange> {
    let mut changes = Vec::new();
    for (environment, experiment) in variants(common) {
        let before = accesses(baseline, environment, experiment);
        let now = accesses(other, environment, experiment);
        if !before.is_empty() && !now.is_empty() && before != now {
            changes.push(AccessChange {
                variant: format!("{environment}.{experiment}"),
                baseline: before,
                other: now,
            });
        }
    }
    changes
}

/// Returns a remark for each variant whose trials were led to several services, or signed in by several means:
/// parts of a
/// run that ran on different machines.
pub fn mixed_access(state: &RunState) -> Vec<String> {
    let mut remarks = Vec::new();
    for (environment, experiment) in variants(&cases(state)) {
        let used = accesses(state, environment, experiment);
        if used.len() > 1 {
            remarks.push(format!(
                "the trials of `{environment}.{experiment}` used different services or credentials: {}",
                used.join("; ")
            ));
        }
    }
    remarks
}

fn variants<'a>(cases: &BTreeSet<Case<'a>>) -> BTreeSet<(&'a str, &'a str)> {
    cases.iter().map(|(_, one, two)| (*one, *two)).collect()
}

/// Returns the services and credentials that the trials of a variant say they used, each once.
fn accesses(state: &RunState, environment: &str, experiment: &str) -> Vec<String> {
    let of_variant = state.trials().iter().filter(|trial| {
        trial.head.environment == environment && trial.head.experiment == experiment
    });
    let said = of_variant.filter_map(|trial| trial.report.delivery.access.as_ref());
    let distinct: BTreeSet<String> = said.map(Access::words).collect();
    distinct.into_iter().collect()
}

/// The part that one run has and the other has not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OneSided {
    /// Evals.
    pub evals: Vec<String>,
    /// Variants, as `environment.experiment`.
    pub variants: Vec<String>,
    /// `eval in variant`, where the other run has both, but not together.
    pub cases: Vec<String>,
}

/// An eval in a variant.
pub(super) type Case<'a> = (&'a str, &'a str, &'a str);

pub(super) fn cases(state: &RunState) -> BTreeSet<Case<'_>> {
    state
        .trials()
        .iter()
        .map(|trial| {
            let head = &trial.head;
            (
                head.eval.as_str(),
                head.environment.as_str(),
                head.experiment.as_str(),
            )
        })
        .collect()
}

impl OneSided {
    /// Returns the part that `state` has and `other` has not.
    pub(super) fn of(here: &BTreeSet<Case<'_>>, there: &BTreeSet<Case<'_>>) -> Self {
        let eval_of = |(eval, ..): &Case<'_>| (*eval).to_owned();
        let variant_of =
            |(_, environment, experiment): &Case<'_>| format!("{environment}.{experiment}");
        let only_here = |name: &dyn Fn(&Case<'_>) -> String| -> Vec<String> {
            let there: BTreeSet<String> = there.iter().map(name).collect();
            let here: BTreeSet<String> = here.iter().map(name).collect();
            here.difference(&there).cloned().collect()
        };
        let (evals, variants) = (only_here(&eval_of), only_here(&variant_of));
        let cases = here.difference(there).filter(|case| {
            !evals.contains(&eval_of(case)) && !variants.contains(&variant_of(case))
        });
        let named = |case: &Case<'_>| format!("{} in {}", case.0, variant_of(case));
        OneSided {
            cases: cases.map(named).collect(),
            evals,
            variants,
        }
    }

    /// Returns whether the other run has everything.
    pub fn is_empty(&self) -> bool {
        self.evals.is_empty() && self.variants.is_empty() && self.cases.is_empty()
    }

    /// `the evals `a` and `b`; the variant `gemini.control``.
    pub fn words(&self) -> String {
        let named = |noun: &str, names: &[String]| {
            let noun = if names.len() == 1 {
                noun.to_owned()
            } else {
                format!("{noun}s")
            };
            (!names.is_empty()).then(|| format!("the {noun} {}", prose::quoted_list(names, "and")))
        };
        let parts = [
            named("eval", &self.evals),
            named("variant", &self.variants),
            (!self.cases.is_empty()).then(|| prose::list(&self.cases, "and")),
        ];
        prose::joined(parts.into_iter().flatten(), "; ")
    }
}

/// Returns the changes of the cases that are compared, where both runs say what they were made from.
pub(super) fn changes(
    before: Option<&[CaseFingerprint]>,
    now: Option<&[CaseFingerprint]>,
    common: &BTreeSet<Case<'_>>,
) -> Option<Changes> {
    let of_common = |prints: &[CaseFingerprint]| -> Vec<CaseFingerprint> {
        let is_common = |print: &&CaseFingerprint| {
            common.contains(&(
                print.eval.as_str(),
                print.environment.as_str(),
                print.experiment.as_str(),
            ))
        };
        prints.iter().filter(is_common).cloned().collect()
    };
    Some(Changes::between(&of_common(before?), &of_common(now?)))
}

/// Returns what names a variant, without a part that all of these share and nobody named.
pub(super) fn naming(common: &BTreeSet<Case<'_>>) -> impl Fn(&TrialHead) -> String + use<> {
    let environments = common.iter().any(|case| case.1 != "default");
    let experiments = common.iter().any(|case| case.2 != "default");
    move |head| match (environments, experiments) {
        (true, true) => format!("{}.{}", head.environment, head.experiment),
        (true, false) => head.environment.clone(),
        (false, _) => head.experiment.clone(),
    }
}
