//! The settings of a run: what it was asked for, beside its suite.
//!
//! They are stored in `run.json`, so that a run can be resumed as it was started. Their names are part of that
//! format. The command line converts its flags into them; renaming a flag changes nothing here.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::ablation::Ablation;
use crate::config::gateway::GatewayMode;
use crate::config::sandbox::Sandbox;
use crate::plan::selection::Selection;
use crate::plan::shard::Shard;
use crate::run::outcome::Status;
use crate::run::state::RunState;
use crate::text::mask::Mask;
use crate::wire::network::Network;
use crate::wire::recording::OnMiss;

/// Repetitions of each eval in each variant.
pub const REPETITIONS: RangeInclusive<u32> = 1..=1_000_000;
/// Trials to run at once.
pub const CONCURRENCY: RangeInclusive<u32> = 1..=10_000;
/// Further attempts at a trial that ended in an error.
pub const RETRIES: RangeInclusive<u32> = 0..=1_000;
/// Time limits in seconds, and budgets in US dollars.
const ABOVE_ZERO: RangeInclusive<f64> = f64::MIN_POSITIVE..=1e9;

/// The end of a run that fails it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailOn {
    /// Trials that could not be judged or did not run.
    Errors,
    /// The same, or an experiment that is worse than the baseline.
    Worse,
    /// The same, or an experiment that is not better than the baseline.
    NotBetter,
}

/// What exit status 0 of a run demands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// The share of judged trials that must pass.
    pub fail_under: f64,
    /// See [`FailOn`].
    pub fail_on: Option<FailOn>,
}

/// Everything that decides how a run goes, apart from the suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSettings {
    /// The evals and variants that run, and what replaces the suite's own values.
    pub selection: SelectionSettings,
    /// The part of the plan that this run is.
    pub shard: Option<Shard>,
    /// Runs the baseline against itself, under two names.
    #[serde(default)]
    pub aa: bool,
    /// Checks the evals: built-in agents take the place of the suite's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub validate: bool,
    /// The design of an ablation, whose rows take the place of the suite's experiments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ablation: Option<Ablation>,
    /// No further trial starts once those that ended have cost this much.
    pub budget_usd: Option<f64>,
    /// Trials to run at once, instead of what the suite says.
    pub concurrency: Option<u32>,
    /// No further trial starts after the first that does not pass.
    pub fail_fast: bool,
    /// Attempts after an error, instead of what the suite says.
    pub retries: Option<u32>,
    /// The share of judged trials that must pass for exit status 0.
    pub fail_under: f64,
    /// The end of a run that is not exit status 0, beside that share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<FailOn>,
    /// The smallest difference that matters, as a share, instead of what the suite says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// The workspaces that stay on disk.
    pub keep: Keep,
    /// The run whose recorded answers take the place of models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplaySettings>,
    /// Runs only what failed in another run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailedSettings>,
    /// The versions that `latest` means in this run, by agent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latest_agents: BTreeMap<String, String>,
    /// The workers that trials run on; none means this machine. They are not stored: a run can be resumed on others.
    #[serde(skip)]
    pub on: Vec<String>,
    /// Tests in a sandbox reach no network. It is not stored: only `terca mine` asks for it, and keeps no run.
    #[serde(skip)]
    pub offline_tests: bool,
}

/// The run whose recorded answers take the place of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplaySettings {
    /// The name of the run.
    pub run: String,
    /// What becomes of a request that was not recorded.
    pub on_miss: OnMiss,
}

/// What failed in another run, or ended in an error there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedSettings {
    /// The name of the run.
    pub run: String,
    /// The evals in the variants.
    pub cases: Vec<CaseName>,
}

/// The name of an eval in a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseName {
    /// The eval's name.
    pub eval: String,
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
}

impl FailedSettings {
    /// Takes the cases of a run with a trial that did not pass, or ended in an error.
    pub fn of(state: &RunState) -> Self {
        let mut cases: Vec<CaseName> = Vec::new();
        for trial in state.trials() {
            let is_failed = matches!(
                trial.report.status,
                Status::Failed | Status::Partial | Status::Error
            );
            let case = CaseName {
                eval: trial.head.eval.clone(),
                environment: trial.head.environment.clone(),
                experiment: trial.head.experiment.clone(),
            };
            if is_failed && !cases.contains(&case) {
                cases.push(case);
            }
        }
        FailedSettings {
            run: state.run().to_owned(),
            cases,
        }
    }
}

impl Default for RunSettings {
    fn default() -> Self {
        RunSettings {
            selection: SelectionSettings::default(),
            shard: None,
            aa: false,
            validate: false,
            ablation: None,
            budget_usd: None,
            concurrency: None,
            fail_fast: false,
            retries: None,
            fail_under: 1.0,
            fail_on: None,
            margin: None,
            keep: Keep::Changed,
            replay: None,
            failed: None,
            latest_agents: BTreeMap::new(),
            on: Vec::new(),
            offline_tests: false,
        }
    }
}

impl RunSettings {
    /// Returns what exit status 0 demands.
    pub fn demand(&self) -> Demand {
        Demand {
            fail_under: self.fail_under,
            fail_on: self.fail_on,
        }
    }

    /// Returns the settings without secrets. Terca's own words are left alone: they would not be readable any more.
    pub(super) fn masked(&self, mask: &Mask) -> Self {
        RunSettings {
            selection: self.selection.masked(mask),
            ablation: (self.ablation.clone()).map(|ablation| ablation.masked(mask)),
            ..self.clone()
        }
    }
}

/// The part of a suite that is meant, and what replaces its own values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SelectionSettings {
    /// Names, paths, globs and `tag:NAME`, with `!` before what is left out; none means all evals.
    pub evals: Vec<String>,
    /// Names and globs; none means all experiments.
    pub experiments: Vec<String>,
    /// Names and globs; none means all environments.
    pub environments: Vec<String>,
    /// Repetitions of each eval in each variant.
    #[serde(deserialize_with = "repetitions")]
    pub repetitions: Option<u32>,
    /// The agent that runs every variant.
    pub agent: Option<String>,
    /// Calls the environments that `agent` runs by its name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub named_by_agent: bool,
    /// The model of every variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's time limit, in seconds.
    #[serde(deserialize_with = "seconds")]
    pub timeout: Option<f64>,
    /// The sandbox of every variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
    /// The network of every contained agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// The seed of the order of trials; a random one is chosen without it.
    pub seed: Option<u64>,
    /// The part of the gateway in every trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<GatewayMode>,
}

impl SelectionSettings {
    /// Returns the names that choose evals and variants.
    pub fn names(&self) -> Selection {
        Selection {
            evals: self.evals.clone(),
            experiments: self.experiments.clone(),
            environments: self.environments.clone(),
        }
    }

    /// Chooses by other names, where there are some.
    pub fn choose(&mut self, names: &SelectionSettings) {
        for (chosen, asked) in [
            (&mut self.evals, &names.evals),
            (&mut self.experiments, &names.experiments),
            (&mut self.environments, &names.environments),
        ] {
            if !asked.is_empty() {
                chosen.clone_from(asked);
            }
        }
    }

    fn masked(&self, mask: &Mask) -> Self {
        let texts = |texts: &[String]| texts.iter().map(|text| mask.text(text)).collect();
        let text = |text: &Option<String>| text.as_deref().map(|text| mask.text(text));
        SelectionSettings {
            evals: texts(&self.evals),
            experiments: texts(&self.experiments),
            environments: texts(&self.environments),
            agent: text(&self.agent),
            model: text(&self.model),
            ..self.clone()
        }
    }
}

/// The workspaces that stay on disk after their trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Every workspace, as what changed in the files that it started from.
    #[default]
    Changed,
    /// Every workspace, as a whole.
    All,
    /// Those of trials that did not pass, as what changed.
    Failed,
    /// No workspace.
    None,
}

/// Checks a time limit in seconds.
pub fn check_seconds(value: f64) -> Result<f64, &'static str> {
    check(value, ABOVE_ZERO, "expected a number of seconds above 0")
}

/// Checks a sum of US dollars.
pub fn check_budget(value: f64) -> Result<f64, &'static str> {
    check(
        value,
        ABOVE_ZERO,
        "expected a sum above 0, such as 5 or 0.50",
    )
}

/// Checks a share.
pub fn check_share(value: f64) -> Result<f64, &'static str> {
    check(
        value,
        0.0..=1.0,
        "expected a share from 0 to 1, such as 0.9",
    )
}

fn check(
    value: f64,
    range: RangeInclusive<f64>,
    expected: &'static str,
) -> Result<f64, &'static str> {
    range.contains(&value).then_some(value).ok_or(expected)
}

// A run that somebody else sent may be replayed, so what could harm this machine is checked.

fn repetitions<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<u32>, D::Error> {
    let number = Option::<u32>::deserialize(reader)?;
    match number.is_none_or(|number| REPETITIONS.contains(&number)) {
        true => Ok(number),
        false => Err(D::Error::custom("expected a number from 1 to 1000000")),
    }
}

fn seconds<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<f64>, D::Error> {
    let value = Option::<f64>::deserialize(reader)?;
    (value.map(check_seconds).transpose()).map_err(D::Error::custom)
}
