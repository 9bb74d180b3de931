//! Remarks on the variants of a plan, for those who look at it before it runs.

use serde::Serialize;

use crate::plan::{TrialSpec, Variant, by_case};

/// A sentence about a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// The sentence.
    pub sentence: String,
}

impl Remark {
    /// Makes a remark on a variant.
    pub fn new(variant: &Variant, sentence: String) -> Self {
        Remark {
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            sentence,
        }
    }
}

/// Returns what is to be said about the variants of these trials, each once, in the order of the plan.
pub fn remarks(trials: &[TrialSpec]) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    for trials in by_case(trials) {
        let variant = &trials[0].case.variant;
        let program = variant.agent.program.iter();
        let program = program.map(|program| format!("its program is `{program}`"));
        let unused = variant.unused.iter().cloned();
        for sentence in program.chain(unused) {
            let remark = Remark::new(variant, sentence);
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    remarks
}
