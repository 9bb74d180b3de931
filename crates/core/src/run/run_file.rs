//! `run.json`: what a run was asked for and what its plan came to.
//!
//! A run can be understood, resumed and merged from it without its suite. It has the types of the plan as they are. It has
//! no secrets: values of variables and headers are left out, and [`RunFile::masked`] masks every text. [`RunFile::parse`] is the only reader, and serializing a [`RunFile`] the only way to write one.

mod case;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

pub use case::{CaseSandbox, RunCase, RunVariant, SettledSandboxes};

use crate::agent::control::is_control;
use crate::config::suite::Suite;
use crate::config::verdict::VerdictSettings;
use crate::plan::fingerprint::CaseFingerprint;
use crate::plan::{Plan, by_case};
use crate::run::event::TrialHead;
use crate::run::settings::RunSettings;
use crate::text::json;
use crate::text::mask::Mask;

/// The version of the format. Any other is refused.
pub const VERSION: u32 = 1;

/// The document `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFile {
    /// The version of this format.
    pub schema_version: u32,
    /// The version of Terca that wrote it.
    pub terca_version: String,
    /// The suite's name.
    pub suite: String,
    /// The suite's description.
    pub description: Option<String>,
    /// The suite's directory, on the machine where the run was started.
    pub suite_dir: Utf8PathBuf,
    /// The seed of the order of trials.
    pub seed: u64,
    /// Trials to run at once, of agents for which the suite gives no number of their own.
    pub concurrency: usize,
    /// The experiment that the others are compared with.
    pub baseline: String,
    /// The figure that experiments are compared by, and the smallest difference that matters.
    #[serde(flatten)]
    pub verdict: VerdictSettings,
    /// The evals in their variants, for all of the plan.
    pub cases: Vec<RunCase>,
    /// The trials of all of the plan, also where the run is a part of it.
    pub trials: Vec<TrialHead>,
    /// The ids of this run's trials, in the order they are started.
    pub order: Vec<u32>,
    /// The settings that the run was started with.
    #[serde(rename = "command")]
    pub settings: RunSettings,
    /// Hashes of what each case was made from.
    pub fingerprints: Vec<CaseFingerprint>,
    /// The commit that the suite was at, where it is in a git repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_commit: Option<String>,
    /// The runs of the parts, where this one was merged from them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged_from: Vec<String>,
    /// The time at which the run was made. Kept last, where it is found without reading the whole.
    pub created_at: Timestamp,
}

/// What a run is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// Agents.
    Agents,
    /// Evals: all its agents are `oracle`, `nop` or `cheat`.
    Controls,
    /// Evals: it is a run of `terca validate`.
    Validate,
}

/// A `run.json` that cannot be used.
#[derive(Debug, Error)]
pub enum RunFileError {
    /// Another version of Terca wrote it.
    #[error(
        "it was written by Terca {terca_version} in version {version} of the format; this Terca reads version {VERSION}"
    )]
    OtherVersion {
        /// The version of the format.
        version: u64,
        /// The version of Terca, as far as it is told.
        terca_version: String,
    },
    /// The text is no such document; the message has the line and column.
    #[error(transparent)]
    Invalid(#[from] serde_json::Error),
}

impl RunFile {
    /// Describes a run of this plan by a version of Terca. What is settled at its start is to be added, then
    /// [`RunFile::masked`] hides its secrets.
    pub fn new(suite: &Suite, plan: &Plan, settings: &RunSettings, terca_version: &str) -> Self {
        RunFile {
            schema_version: VERSION,
            terca_version: terca_version.to_owned(),
            suite: suite.name.clone(),
            description: suite.description.clone(),
            suite_dir: suite.root.clone(),
            seed: 0,
            concurrency: 1,
            baseline: suite.baseline.clone(),
            verdict: suite.verdict.with_margin(settings.margin),
            cases: plain(plan),
            trials: plan.trials.iter().map(TrialHead::of).collect(),
            order: Vec::new(),
            settings: settings.clone(),
            fingerprints: Vec::new(),
            suite_commit: None,
            merged_from: Vec::new(),
            created_at: Timestamp::UNIX_EPOCH,
        }
    }

    /// Returns what the run is about.
    pub fn kind(&self) -> RunKind {
        let mut agents = self.cases.iter().map(|case| &case.variant.agent);
        if self.settings.validate {
            RunKind::Validate
        } else if !self.cases.is_empty()
            && agents.all(|agent| is_control(agent.agent.profile().name))
        {
            RunKind::Controls
        } else {
            RunKind::Agents
        }
    }

    /// Parses the text of a `run.json`.
    pub fn parse(text: &[u8]) -> Result<Self, RunFileError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Header {
            schema_version: u64,
            #[serde(default)]
            terca_version: Value,
        }
        // The version first: a document of another one may have another shape.
        let header: Header = serde_json::from_slice(text)?;
        if header.schema_version != u64::from(VERSION) {
            return Err(RunFileError::OtherVersion {
                version: header.schema_version,
                terca_version: header.terca_version.as_str().unwrap_or("?").to_owned(),
            });
        }
        Ok(serde_json::from_slice(text)?)
    }

    /// Returns the document of the whole plan, from the documents of its parts and the names of their runs.
    pub fn merged(parts: &[(&str, &RunFile)], created_at: Timestamp) -> Option<Self> {
        let (_, first) = parts.first()?;
        let mut whole = (*first).clone();
        whole.settings.shard = None;
        for (index, RunCase { variant, .. }) in whole.cases.iter_mut().enumerate() {
            let cases = parts.iter().filter_map(|(_, part)| part.cases.get(index));
            let mut others = cases.map(|case| &case.variant);
            if others
                .clone()
                .any(|other| other.settled() != variant.settled())
            {
                variant.contained_by = None;
                variant.image = None;
            }
            // Parts that were led to different services have no common one; the results say it of each trial.
            if others.any(|other| other.access != variant.access) {
                variant.access = None;
            }
        }
        whole.order = parts
            .iter()
            .flat_map(|(_, part)| part.order.clone())
            .collect();
        whole.created_at = created_at;
        whole.merged_from = parts.iter().map(|(name, _)| (*name).to_owned()).collect();
        Some(whole)
    }

    /// Hides secrets in every text, wherever it is, so that a new field cannot be forgotten.
    pub fn masked(mut self, mask: &Mask) -> serde_json::Result<Self> {
        if mask.is_empty() {
            return Ok(self);
        }
        let settings = self.settings.masked(mask);
        let cases = masked_cases(std::mem::take(&mut self.cases), mask)?;
        self.settings = RunSettings::default();
        let document = json::with_texts(serde_json::to_value(self)?, &|text| mask.text(text));
        Ok(RunFile {
            settings,
            cases,
            ..serde_json::from_value(document)?
        })
    }
}

/// Describes the cases of a plan, without secrets.
pub fn described(plan: &Plan, mask: &Mask) -> serde_json::Result<Vec<RunCase>> {
    masked_cases(plain(plan), mask)
}

fn masked_cases(cases: Vec<RunCase>, mask: &Mask) -> serde_json::Result<Vec<RunCase>> {
    let masked = |case| serde_json::from_value(masked_case(serde_json::to_value(case)?, mask));
    cases.into_iter().map(masked).collect()
}

fn plain(plan: &Plan) -> Vec<RunCase> {
    by_case(&plan.trials)
        .map(|trials| RunCase::new(&trials[0].case, trials.len()))
        .collect()
}

/// Settings that suites write without variables. They stay readable, even if a word in them is the value of a variable.
const WORDS: [&str; 8] = [
    "/gateway", "/variant/agent/name", "/variant/rulesWithout", "/variant/sandbox",
    "/variant/network", "/variant/allow", "/variant/containedBy", "/variant/image",
];

/// Hides secrets in a case.
fn masked_case(case: Value, mask: &Mask) -> Value {
    let words = WORDS.map(|place| case.pointer(place).cloned());
    let mut case = json::with_texts(case, &|text| mask.text(text));
    for (place, words) in WORDS.into_iter().zip(words) {
        if let (Some(place), Some(words)) = (case.pointer_mut(place), words) {
            *place = words;
        }
    }
    case
}

#[cfg(test)]
mod tests;
