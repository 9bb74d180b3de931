//! The cases of a plan as `run.json` has them. Values of variables and headers are left out: secrets are in them.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agent::access::Access;
use crate::agent::delivery::sha256;
use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::config::gateway::GatewayMode;
use crate::config::sandbox::{ContainedBy, Image};
use crate::config::settings;
use crate::config::suite::{Action, Setup, TrialLimits};
use crate::grade::TestSpec;
use crate::plan::{Case, Layer, Variant};

/// Of a longer file of `files`, its length and hash are enough.
const LONGEST_CONTENT: usize = 16 * 1024;

/// One eval in one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunCase {
    /// The eval's name.
    pub eval: String,
    /// The eval's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    pub layers: Vec<RunLayer>,
    /// The actions before the agent starts.
    pub before: Vec<RunAction>,
    /// The names of the variables.
    pub env: Vec<String>,
    /// The agent's time limit.
    pub timeout_seconds: f64,
    /// The most that a trial may use. Runs of the first version have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<TrialLimits>,
    /// The part of the gateway, where it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<GatewayMode>,
    /// A trial whose rules or skills were in no request to a model is an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_delivery: bool,
    /// The tests.
    pub tests: Vec<RunTest>,
    /// Settings of the suite that reach its trials unchanged, by key.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

/// One environment with one experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunVariant {
    /// The environment's name.
    pub environment: String,
    /// The environment's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_description: Option<String>,
    /// The experiment's name.
    pub experiment: String,
    /// The experiment's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment_description: Option<String>,
    /// The agent's name.
    pub agent: String,
    /// The agent's program, for agents that have none of their own.
    pub agent_command: Option<String>,
    /// The program that was started in place of the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_program: Option<String>,
    /// The file of its rules, where it is not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_rules_file: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Files with rules.
    pub rules: Vec<Utf8PathBuf>,
    /// Directories, each with a skill.
    pub skills: Vec<Utf8PathBuf>,
    /// The MCP servers by name.
    pub mcp_servers: BTreeMap<String, RunMcpServer>,
    /// Settings for the agent.
    pub config: Option<Value>,
    /// The command that sets up the variant.
    pub command: Option<String>,
    /// The service that the agent is led to and its means to sign in, as known when the run starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// The sandbox of its commands on this machine. Older versions had none and do not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contained_by: Option<ContainedBy>,
    /// The image of the containers of its commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// Settings of the variant that reach its trials unchanged, by key.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RunMcpServer {
    /// A program that the agent starts.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// The names of its variables.
        env: Vec<String>,
        /// Its working directory.
        cwd: Option<String>,
    },
    /// A service that the agent calls.
    Remote {
        /// Its address.
        url: String,
        /// The names of its headers.
        headers: Vec<String>,
        /// The protocol.
        #[serde(rename = "type")]
        transport: RemoteTransport,
    },
}

/// Files that a workspace starts from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RunLayer {
    /// A directory of the suite.
    Directory(Utf8PathBuf),
    /// Other layers, changed once by actions.
    Prepared {
        /// The layers that it is made from.
        below: Vec<RunLayer>,
        /// The actions.
        prepare: Vec<RunAction>,
    },
}

/// A step before the agent starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RunAction {
    /// Copies a file or directory of the suite.
    Copy {
        /// The source.
        copy: Utf8PathBuf,
        /// The destination in the workspace.
        to: Utf8PathBuf,
    },
    /// Writes a file. Runs of the first version have its name alone.
    Write {
        /// The file in the workspace.
        file: Utf8PathBuf,
        /// Its content, where it is short.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// The length of a long content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<usize>,
        /// The hash of a long content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
    },
    /// Runs a command.
    Run {
        /// The command.
        command: String,
    },
}

/// A test of an eval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunTest {
    /// Its name.
    pub name: String,
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its part of the score.
    pub weight: f64,
    /// Its kind with the fields of that kind, and its time limit.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

impl RunCase {
    /// Describes a case that has so many trials.
    pub(super) fn new(case: &Case, repetitions: usize) -> Self {
        let Case {
            suite,
            eval,
            variant,
            prompt,
            layers,
            actions,
            env,
            judge_env: _,
            timeout,
            limits,
            gateway,
            require_delivery,
        } = case;
        RunCase {
            eval: eval.name.clone(),
            description: eval.description.clone(),
            tags: eval.tags.clone(),
            repetitions,
            variant: RunVariant {
                environment_description: description(&suite.environments, &variant.environment),
                experiment_description: description(&suite.experiments, &variant.experiment),
                ..RunVariant::from(&**variant)
            },
            prompt: prompt.clone(),
            layers: layers.iter().map(RunLayer::from).collect(),
            before: actions.iter().map(RunAction::from).collect(),
            env: names(env),
            timeout_seconds: timeout.as_secs_f64(),
            limits: Some(*limits),
            gateway: *gateway,
            require_delivery: *require_delivery,
            tests: eval.tests.iter().map(RunTest::from).collect(),
            settings: settings(&**suite),
        }
    }
}

impl From<&TestSpec> for RunTest {
    fn from(test: &TestSpec) -> Self {
        let mut settings = match test.document() {
            Value::Object(settings) => settings,
            _ => Map::new(),
        };
        settings.retain(|key, _| key != "name" && key != "weight");
        RunTest {
            name: test.name.clone(),
            description: test.description.clone(),
            weight: test.weight,
            settings,
        }
    }
}

impl From<&Variant> for RunVariant {
    fn from(variant: &Variant) -> Self {
        let servers = variant.mcp_servers.iter();
        RunVariant {
            environment: variant.environment.clone(),
            environment_description: None,
            experiment: variant.experiment.clone(),
            experiment_description: None,
            agent: variant.agent.agent.profile().name.to_owned(),
            agent_command: variant.agent.command.clone(),
            agent_program: variant.agent.program.clone(),
            agent_rules_file: variant.agent.rules_file.clone(),
            model: variant.model.clone(),
            rules: variant.rules.clone(),
            skills: variant.skills.clone(),
            mcp_servers: servers
                .map(|(name, server)| (name.clone(), RunMcpServer::from(server)))
                .collect(),
            config: variant.config.clone(),
            command: variant
                .command
                .as_ref()
                .map(|command| command.command.clone()),
            access: None,
            contained_by: None,
            image: None,
            settings: settings(&variant.setup),
        }
    }
}

impl From<&McpServer<String>> for RunMcpServer {
    fn from(server: &McpServer<String>) -> Self {
        match server {
            McpServer::Stdio {
                command,
                args,
                env,
                cwd,
            } => RunMcpServer::Stdio {
                command: command.clone(),
                args: args.clone(),
                env: names(env),
                cwd: cwd.clone(),
            },
            McpServer::Remote {
                url,
                headers,
                transport,
            } => RunMcpServer::Remote {
                url: url.clone(),
                headers: names(headers),
                transport: *transport,
            },
        }
    }
}

impl From<&Layer> for RunLayer {
    fn from(layer: &Layer) -> Self {
        match layer {
            Layer::Directory(dir) => RunLayer::Directory(dir.clone()),
            Layer::Prepared(prepared) => RunLayer::Prepared {
                below: prepared.below.iter().map(RunLayer::from).collect(),
                prepare: prepared.actions.iter().map(RunAction::from).collect(),
            },
        }
    }
}

impl From<&Action> for RunAction {
    fn from(action: &Action) -> Self {
        match action {
            Action::Copy {
                source,
                destination,
            } => RunAction::Copy {
                copy: source.clone(),
                to: destination.clone(),
            },
            Action::Write {
                destination,
                content,
            } => {
                let is_short = content.len() <= LONGEST_CONTENT;
                RunAction::Write {
                    file: destination.clone(),
                    content: is_short.then(|| content.clone()),
                    bytes: (!is_short).then_some(content.len()),
                    sha256: (!is_short).then(|| sha256(content.as_bytes())),
                }
            }
            Action::Run(command) => RunAction::Run {
                command: command.command.clone(),
            },
        }
    }
}

fn description(setups: &[Setup], name: &str) -> Option<String> {
    let setup = setups.iter().find(|setup| setup.name == name)?;
    setup.description.clone()
}

fn names(pairs: &[(String, String)]) -> Vec<String> {
    pairs.iter().map(|(name, _)| name.clone()).collect()
}
