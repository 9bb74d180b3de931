//! The cases of a plan as `run.json` has them, with what was settled when the run started.

use std::ops::Deref;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::RunFile;
use crate::agent::access::Access;
use crate::config::gateway::GatewayMode;
use crate::config::sandbox::{ContainedBy, Image, Sandbox};
use crate::config::settings;
use crate::config::suite::{Action, Service, Setup, TrialLimits};
use crate::grade::TestSpec;
use crate::plan::{Case, Layer, Variant};
use crate::text::json;

/// One eval in one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunCase {
    /// The eval's name.
    pub eval: String,
    /// The eval's description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The eval's tags.
    pub tags: Vec<String>,
    /// The number of its trials.
    pub repetitions: usize,
    /// The variant.
    pub variant: RunVariant,
    /// The prompt as the agent gets it.
    pub prompt: String,
    /// The files that the workspace starts from, lowest first.
    pub layers: Vec<Layer>,
    /// The actions before the agent starts.
    pub before: Vec<Action>,
    /// The programs beside the trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
    /// The variables, by name only.
    #[serde(with = "json::names_only")]
    pub env: Vec<(String, String)>,
    /// The agent's time limit.
    #[serde(rename = "timeoutSeconds", with = "json::seconds")]
    pub timeout: Duration,
    /// The most that a trial may use.
    pub limits: TrialLimits,
    /// The part of the gateway, where it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<GatewayMode>,
    /// A trial whose rules or skills were in no request to a model is an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_delivery: bool,
    /// The tests as they are written, by key.
    pub tests: Vec<Map<String, Value>>,
    /// Settings of the suite that reach its trials unchanged, by key.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

/// One environment with one experiment, and what was settled for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunVariant {
    /// The variant as it is planned.
    #[serde(flatten)]
    pub planned: Variant,
    /// The environment's description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_description: Option<String>,
    /// The experiment's description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experiment_description: Option<String>,
    /// The service that the agent is led to and its means to sign in, as known when the run starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// The sandbox of its commands on this machine; `None` where merged parts differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contained_by: Option<ContainedBy>,
    /// The image of the containers of its commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
}

/// `variant.agent` is `variant.planned.agent`.
impl Deref for RunVariant {
    type Target = Variant;

    fn deref(&self) -> &Variant {
        &self.planned
    }
}

impl RunCase {
    /// Describes a case that has so many trials.
    pub(super) fn new(case: &Case, repetitions: usize) -> Self {
        let (suite, eval, variant) = (&case.suite, &case.eval, &case.variant);
        RunCase {
            eval: eval.name.clone(),
            description: eval.description.clone(),
            tags: eval.tags.clone(),
            repetitions,
            variant: RunVariant {
                environment_description: description(&suite.environments, &variant.environment),
                experiment_description: description(&suite.experiments, &variant.experiment),
                planned: (**variant).clone(),
                access: None,
                contained_by: None,
                image: None,
            },
            prompt: case.prompt.clone(),
            layers: case.layers.clone(),
            before: case.actions.clone(),
            services: case.services.clone(),
            env: case.env.clone(),
            timeout: case.timeout,
            limits: case.limits,
            gateway: case.gateway,
            require_delivery: case.require_delivery,
            tests: eval.tests.iter().map(test).collect(),
            settings: suite.settings(),
        }
    }
}

fn test(test: &TestSpec) -> Map<String, Value> {
    let mut keys = settings(&test.document());
    keys.extend((test.description.clone()).map(|text| ("description".to_owned(), text.into())));
    keys
}

fn description(setups: &[Setup], name: &str) -> Option<String> {
    let setup = setups.iter().find(|setup| setup.name == name)?;
    setup.description.clone()
}

/// The sandbox of a case's commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseSandbox {
    /// The kind.
    pub contained_by: ContainedBy,
    /// The image of a container.
    pub image: Option<Image>,
}

/// The sandboxes of those who leave the choice to the machine, as a run settled it at its start. `None` where the run does
/// not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledSandboxes {
    /// The sandbox of those who do not say.
    pub unsaid: Option<Sandbox>,
    /// The sandbox of those who ask for the best one.
    pub auto: Option<Sandbox>,
}

impl RunFile {
    /// Returns what was settled when the run was started.
    pub fn settled_sandboxes(&self) -> SettledSandboxes {
        let of = |asked: Option<&Sandbox>| {
            let variants = self.cases.iter().map(|case| &case.variant);
            let mut asking = variants.filter(|variant| variant.planned.sandbox.as_ref() == asked);
            asking.find_map(RunVariant::settled)
        };
        SettledSandboxes {
            unsaid: of(None),
            auto: of(Some(&Sandbox::Auto)),
        }
    }
}

impl RunVariant {
    /// Returns the sandbox that its commands were in, as it is asked for by name.
    pub(super) fn settled(&self) -> Option<Sandbox> {
        Some(match self.contained_by? {
            ContainedBy::None => Sandbox::None,
            ContainedBy::Bwrap => Sandbox::Bwrap,
            ContainedBy::Landlock => Sandbox::Landlock,
            ContainedBy::Docker => Sandbox::Docker(self.image.clone()?),
            ContainedBy::Podman => Sandbox::Podman(self.image.clone()?),
        })
    }
}
