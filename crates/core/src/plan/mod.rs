//! The trials of a run, each with all its settings.

pub mod aa_check;
pub mod ablated;
pub mod agent_named;
mod arm;
pub mod descriptions;
pub mod expand;
pub mod fingerprint;
mod identical;
mod interpolate;
mod judges;
pub mod lints;
pub mod order;
pub mod project_dir;
pub mod remarks;
pub mod selection;
mod setups;
pub mod shard;
pub mod workers;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::agent::AgentChoice;
use crate::agent::mcp::McpServer;
use crate::agent::package_hosts::package_hosts;
use crate::config::adaptive::Adaptive;
use crate::config::folder_name;
use crate::config::gateway::GatewayMode;
use crate::config::sandbox::ContainedBy;
use crate::config::suite::{Action, AppliedSetup, Eval, Service, Suite, TrialLimits};
use crate::grade::Question;
use crate::text::{Place, json};
use crate::wire::network::{HostPattern, Network};

/// One environment with one experiment applied to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Variant {
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// The experiment's name as the suite's own commands see it.
    #[serde(skip)]
    pub told_experiment: String,
    /// The environment's name as the suite's own commands see it.
    #[serde(skip)]
    pub told_environment: String,
    /// The agent that does the work.
    pub agent: AgentChoice,
    /// MCP servers by name, with variables filled in.
    #[serde(with = "json::map")]
    pub mcp_servers: Vec<(String, McpServer<String>)>,
    /// The settings of environment and experiment.
    #[serde(flatten)]
    pub setup: AppliedSetup,
    /// A sentence about the settings of each setup that are for another agent.
    #[serde(skip)]
    pub unused: Vec<String>,
}

/// A variant is its settings under a name: `variant.model` is `variant.setup.model`.
impl Deref for Variant {
    type Target = AppliedSetup;

    fn deref(&self) -> &AppliedSetup {
        &self.setup
    }
}

impl Variant {
    /// Returns its name, such as `codex.control`.
    pub fn label(&self) -> String {
        format!("{}.{}", self.environment, self.experiment)
    }

    /// Returns the hosts that its agent reaches beside this network. `packages` are those of [`Plan::package_hosts`].
    pub fn hosts_beside(&self, network: &Network, packages: &[HostPattern]) -> Vec<HostPattern> {
        let mut hosts = self.allow.clone();
        if *network == Network::Model {
            hosts.extend(
                packages
                    .iter()
                    .filter(|host| !self.allow.contains(host))
                    .cloned(),
            );
        }
        hosts
    }
}

/// Files that a workspace starts from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Layer {
    /// A directory of the suite.
    Directory(Utf8PathBuf),
    /// The result of `prepare` on other layers.
    Prepared(Arc<PreparedLayer>),
}

impl Layer {
    /// Returns the suite's directories that layers are made from, lowest first.
    pub fn directories(layers: &[Layer]) -> Vec<&Utf8Path> {
        let directories = layers.iter().map(|layer| match layer {
            Layer::Directory(directory) => vec![directory.as_path()],
            Layer::Prepared(prepared) => Layer::directories(prepared.replaced()),
        });
        directories.flatten().collect()
    }
}

/// A layer that is made once and shared by trials. It does not depend on variants or repetitions.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreparedLayer {
    /// The layers that it is made from, lowest first.
    pub below: Vec<Layer>,
    /// The actions that make it.
    #[serde(rename = "prepare")]
    pub actions: Vec<Action>,
    /// The variables of its commands.
    #[serde(with = "json::names_only")]
    pub env: Vec<(String, String)>,
    /// The files of the layers below that it is made from; empty for all of them. The others are no part of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_files: Vec<Utf8PathBuf>,
    /// The eval that it is for; `None` for one that evals share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval: Option<String>,
    /// Tells whether its commands have access to private registries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pass_registries: bool,
}

impl PreparedLayer {
    /// Returns the layers that it takes the place of. One that is made from a few files lies above the others.
    pub fn replaced(&self) -> &[Layer] {
        match self.only_files.is_empty() {
            true => &self.below,
            false => &[],
        }
    }
}

/// One eval in one variant. All its repetitions share it.
#[derive(Debug, Clone)]
pub struct Case {
    /// The suite, for settings that are the same in all cases.
    pub suite: Arc<Suite>,
    /// The eval.
    pub eval: Arc<Eval>,
    /// The variant.
    pub variant: Arc<Variant>,
    /// The whole prompt, with preambles and postambles.
    pub prompt: String,
    /// The files that the workspace starts from, lowest first.
    pub layers: Vec<Layer>,
    /// All actions before the agent starts, in order, except the variant's `command`.
    pub actions: Vec<Action>,
    /// Programs that run beside the trial, in the order in which they start.
    pub services: Vec<Service>,
    /// The variables of every command, with values filled in.
    pub env: Vec<(String, String)>,
    /// The variables of a judge, where a test has one: the suite's own, equal in every variant.
    pub judge_env: Vec<(String, String)>,
    /// The agent's time limit.
    pub timeout: Duration,
    /// The most that a trial may use.
    pub limits: TrialLimits,
    /// The part of the gateway that is asked for; see [`gateway_in`](Case::gateway_in).
    pub gateway: Option<GatewayMode>,
    /// A trial whose rules or skills were in no request to a model is an error.
    pub require_delivery: bool,
}

impl Case {
    /// Returns the actions that make its workspace, those of `prepare` first.
    pub fn all_actions(&self) -> Vec<&Action> {
        let mut actions = Vec::new();
        add_prepared(&self.layers, &mut actions);
        actions.extend(&self.actions);
        actions
    }

    /// Returns the limits on the time of its set-up, services, agent and tests together.
    pub fn time_limits(&self) -> Duration {
        let of_actions = self
            .all_actions()
            .into_iter()
            .filter_map(|action| match action {
                Action::Run(command) => Some(command),
                Action::Copy { .. } | Action::Write { .. } => None,
            });
        let of_setup = of_actions.chain(&self.variant.setup.command);
        let services = self.services.iter().map(|service| service.timeout);
        let tests = self.eval.tests.iter().filter(|test| {
            use Question::{Command, Judge};
            matches!(test.question(), Command { .. } | Judge { .. })
        });
        let tests = tests.map(|test| test.timeout);
        (of_setup.map(|command| command.timeout))
            .chain(services)
            .chain(tests)
            .fold(self.timeout, Duration::saturating_add)
    }

    /// Returns the shell commands of its set-up and its tests.
    pub fn commands(&self) -> impl Iterator<Item = CommandLine<'_>> {
        let actions = self.all_actions().into_iter();
        let of_actions = actions.filter_map(|action| match action {
            Action::Run(command) => Some(command),
            Action::Copy { .. } | Action::Write { .. } => None,
        });
        let of_setup = of_actions.chain(&self.variant.setup.command);
        let of_setup = of_setup.map(|command| CommandLine {
            line: &command.command,
            dir: &command.dir,
            place: command.place,
            is_of_test: false,
        });
        let of_tests = self.eval.tests.iter().filter_map(|test| {
            let Question::Command { command, .. } = test.question() else {
                return None;
            };
            Some(CommandLine {
                line: command,
                dir: &test.dir,
                place: test.place,
                is_of_test: true,
            })
        });
        of_setup.chain(of_tests)
    }

    /// Returns the part of the gateway, if the sandbox is this one. Unless somebody says otherwise it is there for agents
    /// whose network leads to models alone, and where delivery has to be proven.
    pub fn gateway_in(&self, contained_by: ContainedBy) -> GatewayMode {
        let is_there =
            self.require_delivery || self.variant.network_in(contained_by) == Network::Model;
        let unasked = if is_there {
            GatewayMode::Meter
        } else {
            GatewayMode::Off
        };
        self.gateway.unwrap_or(unasked)
    }

    /// Tells whether commands of the suite build its workspace.
    pub fn has_setup_commands(&self) -> bool {
        let is_command = |action: &Action| matches!(action, Action::Run(_));
        self.variant.command.is_some() || self.actions.iter().any(is_command)
    }
}

/// A shell command of a case.
#[derive(Debug, Clone, Copy)]
pub struct CommandLine<'a> {
    /// The command.
    pub line: &'a str,
    /// The directory of the YAML file that names it.
    pub dir: &'a Utf8Path,
    /// Its place in that file.
    pub place: Place,
    /// It is a test's.
    pub is_of_test: bool,
}

fn add_prepared<'a>(layers: &'a [Layer], actions: &mut Vec<&'a Action>) {
    for layer in layers {
        if let Layer::Prepared(prepared) = layer {
            add_prepared(prepared.replaced(), actions);
            actions.extend(&prepared.actions);
        }
    }
}

/// One eval × variant × repetition.
#[derive(Debug, Clone)]
pub struct TrialSpec {
    /// Its number in the plan, from 1.
    pub id: u32,
    /// The eval and the variant.
    pub case: Arc<Case>,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// Its folder, relative to the run's.
    pub dir: Utf8PathBuf,
}

/// The trials of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// In the order of their ids.
    pub trials: Vec<TrialSpec>,
    /// Values from Terca's environment. They are masked in everything that is written.
    pub secrets: Vec<String>,
    /// The bounds of adaptive repetitions: not all trials may be needed.
    pub adaptive: Option<Adaptive>,
    /// The variants that differ from the baseline in nothing but their name.
    pub identical_to_baseline: Vec<VariantName>,
}

/// The name of a variant. In files it is a pair: `["gemini", "with-rules"]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, String)", into = "(String, String)")]
pub struct VariantName {
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
}

impl From<(String, String)> for VariantName {
    fn from((environment, experiment): (String, String)) -> Self {
        VariantName {
            environment,
            experiment,
        }
    }
}

impl From<VariantName> for (String, String) {
    fn from(name: VariantName) -> Self {
        (name.environment, name.experiment)
    }
}

impl Plan {
    /// Returns its cases, in its order.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        by_case(&self.trials).map(|trials| &*trials[0].case)
    }

    /// Leaves the trials of some cases, by the names of eval, environment and experiment. Ids are given anew.
    pub fn keep_cases(&mut self, is_kept: impl Fn(&str, &str, &str) -> bool) {
        self.keep(|trial| {
            let Case { eval, variant, .. } = &*trial.case;
            is_kept(&eval.name, &variant.environment, &variant.experiment)
        });
    }

    /// Leaves some of the trials. Ids are given anew.
    pub fn keep(&mut self, is_kept: impl Fn(&TrialSpec) -> bool) {
        self.trials.retain(is_kept);
        for (trial, id) in self.trials.iter_mut().zip(1..) {
            trial.id = id;
        }
    }

    /// Returns the hosts that MCP servers are fetched from, each once. All variants reach them: a variant whose agent could
    /// fetch packages would have another advantage than its servers.
    pub fn package_hosts(&self) -> Vec<HostPattern> {
        let mut hosts: Vec<HostPattern> = Vec::new();
        for case in self.cases() {
            for (_, server) in &case.variant.mcp_servers {
                for host in package_hosts(server, &case.env) {
                    if !hosts.contains(&host) {
                        hosts.push(host);
                    }
                }
            }
        }
        hosts
    }
}

/// Returns trials in groups, each of one case. Trials of a case follow each other in a plan.
pub fn by_case(trials: &[TrialSpec]) -> impl Iterator<Item = &[TrialSpec]> {
    trials.chunk_by(|one, other| Arc::ptr_eq(&one.case, &other.case))
}

/// Makes the folder of a trial, relative to the run's, from its names. It has plain names only, and leads nowhere else.
pub fn trial_folder(
    eval: &str,
    environment: &str,
    experiment: &str,
    repetition: u32,
) -> Utf8PathBuf {
    let folder = format!(
        "{}.{}.{repetition:02}",
        folder_name(environment),
        folder_name(experiment)
    );
    Utf8PathBuf::from(folder_name(eval)).join(folder)
}
