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
            suite: suite.description.as_deref().and_then(filled),
            ..Descriptions::default()
        };
        for trials in by_case(trials) {
            let case = &trials[0].case;
            add(
                &mut found.evals,
                &case.eval.name,
                case.eval.description.as_deref(),
            );
            let variant = &case.variant;
            add_setup(
                &mut found.environments, &suite.environments, &variant.environment,
            );
            add_setup(
                &mut found.experiments, &suite.experiments, &variant.experiment,
            );
            for test in &case.eval.tests {
                if let Some(text) = test.description.as_deref().and_then(filled) {
                    let tests = found.tests.entry(case.eval.name.clone()).or_default();
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
            .chain(self.environments.values_mut())
            .chain(self.experiments.values_mut())
            .chain(tests)
    }
}

fn add_setup(found: &mut BTreeMap<String, String>, setups: &[Setup], name: &str) {
    let setup = setups.iter().find(|setup| setup.name == name);
    add(
        found,
        name,
        setup.and_then(|setup| setup.description.as_deref()),
    );
}

fn add(found: &mut BTreeMap<String, String>, name: &str, description: Option<&str>) {
    if let Some(text) = description.and_then(filled) {
        found.insert(name.to_owned(), text);
    }
}

fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
