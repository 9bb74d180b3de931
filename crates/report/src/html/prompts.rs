//! The prompts of a run, from its `run.json`, one for each eval in each variant; and the tags of its evals.

use std::collections::HashMap;

use terca_core::run::event::TrialHead;
use terca_core::run::run_file::RunFile;

/// The prompts by eval, environment and experiment, and the tags by eval.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    of: HashMap<[String; 3], String>,
    tags: HashMap<String, Vec<String>>,
}

impl From<&RunFile> for Prompts {
    fn from(file: &RunFile) -> Self {
        let prompts = file.cases.iter().map(|case| {
            let variant = &case.variant;
            let key = [&case.eval, &variant.environment, &variant.experiment];
            (key.map(String::clone), case.prompt.clone())
        });
        let tags = file
            .cases
            .iter()
            .filter(|case| !case.tags.is_empty())
            .map(|case| (case.eval.clone(), case.tags.clone()));
        Prompts {
            of: prompts.collect(),
            tags: tags.collect(),
        }
    }
}

impl FromIterator<([String; 3], String)> for Prompts {
    fn from_iter<I: IntoIterator<Item = ([String; 3], String)>>(prompts: I) -> Self {
        Prompts {
            of: prompts.into_iter().collect(),
            tags: HashMap::new(),
        }
    }
}

impl Prompts {
    /// Returns the prompt of a trial.
    pub fn get(&self, head: &TrialHead) -> Option<&str> {
        let key = [
            head.eval.clone(),
            head.environment.clone(),
            head.experiment.clone(),
        ];
        self.of.get(&key).map(String::as_str)
    }

    /// Returns the tags of an eval.
    pub fn tags_of(&self, eval: &str) -> &[String] {
        self.tags.get(eval).map_or(&[], Vec::as_slice)
    }
}
