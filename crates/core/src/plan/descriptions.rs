//! The texts for people that a suite has beside its names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::suite::{Setup, Suite};
use crate::plan::{TrialSpec, by_case};

/// Descriptions by name. What has none is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Descriptions {
    /// The suite's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Those of evals.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub evals: BTreeMap<String, String>,
    /// What incomplete evals lack.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub incomplete: BTreeMap<String, Vec<String>>,
    /// Those of environments.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub environments: BTreeMap<String, String>,
    /// Those of experiments.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub experiments: BTreeMap<String, String>,
    /// Those of tests, by the eval's name and then by the test's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tests: BTreeMap<String, BTreeMap<String, String>>,
}

impl Descriptions {
    /// Takes the descriptions of all that these trials are about.
    pub fn of(suite: &Suite, trials: &[TrialSpec]) -> Self {
        let mut found = Descriptions {
            suite: filled(&suite.description),
            ..Descriptions::default()
        };
        for trials in by_case(trials) {
            let (eval, variant) = (&trials[0].case.eval, &trials[0].case.variant);
            let of_setup = |setups: &[Setup], name: &str| {
                let setup = setups.iter().find(|setup| setup.name == name)?;
                filled(&setup.description)
            };
            let environment = of_setup(&suite.environments, &variant.environment);
            let experiment = of_setup(&suite.experiments, &variant.experiment);
            for (known, name, text) in [
                (&mut found.evals, &eval.name, filled(&eval.description)),
                (&mut found.environments, &variant.environment, environment),
                (&mut found.experiments, &variant.experiment, experiment),
            ] {
                known.extend(text.map(|text| (name.clone(), text)));
            }
            if !eval.incomplete.is_empty() {
                let lacks = eval.incomplete.clone();
                found.incomplete.insert(eval.name.clone(), lacks);
            }
            for test in &eval.tests {
                if let Some(text) = filled(&test.description) {
                    let tests = found.tests.entry(eval.name.clone()).or_default();
                    tests.insert(test.name.clone(), text);
                }
            }
        }
        found
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Descriptions::default()
    }

    /// Returns the description of a test.
    pub fn test(&self, eval: &str, test: &str) -> Option<&str> {
        self.tests.get(eval)?.get(test).map(String::as_str)
    }

    /// Returns every text.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let tests = self.tests.values_mut().flat_map(BTreeMap::values_mut);
        self.suite
            .iter_mut()
            .chain(self.evals.values_mut())
            .chain(self.incomplete.values_mut().flatten())
            .chain(self.environments.values_mut())
            .chain(self.experiments.values_mut())
            .chain(tests)
    }
}

fn filled(description: &Option<String>) -> Option<String> {
    let text = description.as_deref()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
