//! Remarks on the variants of a plan, for those who look at it before it runs.

use std::sync::Arc;

use crate::plan::{TrialSpec, Variant};

/// A sentence about a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// The sentence.
    pub sentence: String,
}

/// Returns what is to be said about the variants of these trials, in the order of the plan.
pub fn remarks(trials: &[TrialSpec]) -> Vec<Remark> {
    let mut seen: Vec<&Arc<Variant>> = Vec::new();
    let mut remarks = Vec::new();
    for trial in trials {
        let variant = &trial.case.variant;
        if seen.iter().any(|known| Arc::ptr_eq(known, variant)) {
            continue;
        }
        seen.push(variant);
        remarks.extend(variant.unused.iter().map(|unused| Remark {
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            sentence: unused.sentence(),
        }));
    }
    remarks
}
