//! The cases of a plan that have changed since they were last seen.

use std::collections::BTreeSet;

use terca_core::plan::fingerprint::CaseFingerprint;

/// An eval in a variant: the names of the eval, the environment and the experiment.
pub type CaseName = (String, String, String);

/// The cases that have changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Those whose tests are others.
    pub tests: BTreeSet<CaseName>,
    /// Those whose agents get something else, and those that are new.
    pub inputs: BTreeSet<CaseName>,
}

impl Changed {
    /// Compares a plan with the one before.
    pub fn between(before: &[CaseFingerprint], now: &[CaseFingerprint]) -> Self {
        let mut changed = Changed::default();
        for case in now {
            let name = name(case);
            match before.iter().find(|other| self::name(other) == name) {
                None => {
                    changed.inputs.insert(name);
                }
                Some(before) => {
                    if before.tests() != case.tests() {
                        changed.tests.insert(name.clone());
                    }
                    if before.has_other_inputs(case) {
                        changed.inputs.insert(name);
                    }
                }
            }
        }
        changed
    }
}

/// Returns the names of a case.
pub fn name(case: &CaseFingerprint) -> CaseName {
    (
        case.eval.clone(),
        case.environment.clone(),
        case.experiment.clone(),
    )
}

/// Returns the distinct names of one kind.
pub fn distinct(cases: &BTreeSet<CaseName>, kind: fn(&CaseName) -> &String) -> BTreeSet<&str> {
    cases.iter().map(|case| kind(case).as_str()).collect()
}
