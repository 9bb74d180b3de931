//! Remarks on the variants of a plan, for those who look at it before it runs.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::config::suite::UnusedSettings;
use crate::plan::{TrialSpec, Variant};
use crate::text::prose;

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
        let program = variant.agent.program.iter();
        let program = program.map(|program| format!("its program is `{program}`"));
        let unused = variant.unused.iter().map(UnusedSettings::sentence);
        let sentences = program.chain(unused).chain(unknown_settings(variant));
        remarks.extend(sentences.map(|sentence| Remark {
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            sentence,
        }));
    }
    remarks
}

/// Returns a sentence about each key of `config` that is none of the agent's settings. Most agents ignore such a
/// key, and
/// the variant is then no other than its baseline.
fn unknown_settings(variant: &Variant) -> impl Iterator<Item = String> {
    let profile = variant.agent.agent.profile();
    let known = profile.config_keys;
    let keys = variant.config.iter().filter_map(Value::as_object);
    let keys = keys.flat_map(|config| config.keys());
    let unknown = keys.filter(move |key| !known.is_empty() && !known.contains(&key.as_str()));
    unknown.map(move |key| {
        let meant = prose::did_you_mean(key, known.iter().copied());
        let hint = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
        format!(
            "`config` has `{key}`, which is not a known setting of `{}`{hint}",
            profile.name
        )
    })
}
