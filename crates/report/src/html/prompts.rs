//! The prompts and settings of a run, from its `run.json`, one for each eval in each variant; and the tags of its evals and
//! of people's remarks.

use std::collections::{BTreeMap, HashMap};

use terca_core::run::event::TrialHead;
use terca_core::run::remark::Remark;
use terca_core::run::run_file::RunFile;

use crate::text::given::given_rows;

/// The prompts by eval, environment and experiment, and the tags by eval.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    of: HashMap<[String; 3], String>,
    given: HashMap<[String; 3], GivenRows>,
    tags: HashMap<String, Vec<String>>,
    remarked: HashMap<u32, Vec<String>>,
}

/// Names and values of what an agent was given beside its prompt.
type GivenRows = Vec<(&'static str, String)>;

impl From<&RunFile> for Prompts {
    fn from(file: &RunFile) -> Self {
        let mut prompts = Prompts::default();
        for case in &file.cases {
            let variant = &case.variant;
            let key = [&case.eval, &variant.environment, &variant.experiment].map(String::clone);
            let rows = given_rows(case, &file.suite_dir);
            prompts.of.insert(key.clone(), case.prompt.clone());
            prompts.given.insert(key, rows);
            if !case.tags.is_empty() {
                prompts.tags.insert(case.eval.clone(), case.tags.clone());
            }
        }
        prompts
    }
}

impl FromIterator<([String; 3], String)> for Prompts {
    fn from_iter<I: IntoIterator<Item = ([String; 3], String)>>(prompts: I) -> Self {
        Prompts {
            of: prompts.into_iter().collect(),
            ..Prompts::default()
        }
    }
}

impl Prompts {
    /// Returns the prompt of a trial.
    pub fn get(&self, head: &TrialHead) -> Option<&str> {
        self.of.get(&key(head)).map(String::as_str)
    }

    /// Returns names and values of what the agent of a trial was given beside its prompt.
    pub fn given(&self, head: &TrialHead) -> &[(&'static str, String)] {
        self.given.get(&key(head)).map_or(&[], Vec::as_slice)
    }

    /// Adds the tags of people's remarks, by trial.
    #[must_use]
    pub fn with_remarks(mut self, remarks: &BTreeMap<u32, Remark>) -> Self {
        let tags = |(id, remark): (&u32, &Remark)| (*id, remark.tags.clone());
        self.remarked = remarks.iter().map(tags).collect();
        self
    }

    /// Returns the tags of a trial: those of its eval, and those of a person's remark.
    pub fn tags_of(&self, head: &TrialHead) -> impl Iterator<Item = &String> {
        let of_eval = self.tags.get(&head.eval).into_iter().flatten();
        of_eval.chain(self.tags_of_remark(head.id).unwrap_or_default())
    }

    /// Returns the tags of a person's remark about a trial. They may be none.
    pub fn tags_of_remark(&self, trial: u32) -> Option<&[String]> {
        self.remarked.get(&trial).map(Vec::as_slice)
    }
}

fn key(head: &TrialHead) -> [String; 3] {
    [&head.eval, &head.environment, &head.experiment].map(String::clone)
}
