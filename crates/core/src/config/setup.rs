//! Environments and experiments: they take the same fields.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::ablation::RulesWithout;
use crate::agent::AgentChoice;
use crate::agent::options::AgentOptions;
use crate::config::action::{Action, ShellCommand, added_actions, command};
use crate::config::gateway::{GatewayMode, gateway};
use crate::config::limits::{LimitSettings, limits};
use crate::config::mcp_server::{HideTools, McpServers, hide_tools, mcp_servers};
use crate::config::names::unique;
use crate::config::network::{hosts, network};
use crate::config::sandbox::{ContainedBy, Sandbox, sandbox};
use crate::config::service::{Service, services};
use crate::config::variables::{Template, Variables, trial_variables};
use crate::reader::agent::{agent_choice, agent_settings};
use crate::reader::{
    Fields, Kind, Node, Patch, PathKind, Reader, Value, boolean, count, filled_text, list_of,
    not_negative, object, one_or_more, seconds, text,
};
use crate::text::{Code, Diagnostic, Located, Place};
use crate::wire::network::{HostPattern, Network};

/// An environment, or an experiment that is applied to one.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Its name, unique among its kind.
    pub name: String,
    /// A text for people.
    pub description: Option<String>,
    /// The place of its name; `None` for the default that nobody wrote.
    pub place: Option<Place>,
    /// The place of `baseline: true`.
    pub baseline: Option<Place>,
    /// The real name of a set-up that runs under another.
    pub real_name: Option<String>,
    /// The agent that does the work.
    pub agent: Patch<AgentChoice>,
    /// The agent's model.
    pub model: Patch<Template>,
    /// Rules files, absolute.
    pub rules: Patch<Vec<Utf8PathBuf>>,
    /// The parts of its rules that an ablation leaves out.
    pub rules_without: Option<RulesWithout>,
    /// Directories with a `SKILL.md`, absolute.
    pub skills: Patch<Vec<Utf8PathBuf>>,
    /// MCP servers by name.
    pub mcp_servers: Patch<McpServers>,
    /// Tools that the agent is not offered, by the name of their server.
    pub hide_tools: Patch<HideTools>,
    /// The tools that an ablation leaves out, by the name of their server.
    pub tools_left_out: BTreeMap<String, Vec<String>>,
    /// The agent's own settings.
    pub config: Patch<Node>,
    /// The effort of the model.
    pub effort: Patch<String>,
    /// The most turns of a session.
    pub max_turns: Patch<u32>,
    /// A text after the agent's own system prompt.
    pub system_prompt: Patch<String>,
    /// Tools of the agent that it may not use.
    pub disallowed_tools: Patch<Vec<String>>,
    /// The temperature of the model.
    pub temperature: Patch<f64>,
    /// Further arguments of the agent's command line.
    pub args: Patch<Vec<String>>,
    /// Environment variables. `env: null` drops those of the environment below.
    pub env: Patch<Variables>,
    /// A command that runs after all `before` actions.
    pub command: Patch<ShellCommand>,
    /// Actions that run in every trial, before the agent.
    pub before: Patch<Vec<Action<Template>>>,
    /// Programs beside the trial, such as databases.
    pub services: Patch<Vec<Service<Template>>>,
    /// Text before the prompt.
    pub preamble: Patch<String>,
    /// Text after the prompt.
    pub postamble: Patch<String>,
    /// The agent's time limit.
    pub timeout: Patch<Duration>,
    /// The most that a trial may use.
    pub limits: Patch<LimitSettings>,
    /// The sandbox of every command of a trial.
    pub sandbox: Patch<Sandbox>,
    /// The network of the agent.
    pub network: Patch<Network>,
    /// Further hosts that the agent reaches.
    pub allow: Patch<Vec<HostPattern>>,
    /// The part of the gateway.
    pub gateway: Patch<GatewayMode>,
    /// A trial whose rules or skills were in no request to a model is an error.
    pub require_delivery: Patch<bool>,
}

impl Setup {
    /// Returns the set-up of a suite that names no environments or no experiments.
    pub fn named_default() -> Self {
        Setup {
            name: "default".into(),
            ..Setup::default()
        }
    }
}

/// An experiment applied to an environment: a value replaces, `null` removes, maps are merged.
///
/// A new field is in `run.json` and in fingerprints as it is serialized.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AppliedSetup {
    /// The agent's model.
    pub model: Option<String>,
    /// Rules files, absolute.
    pub rules: Vec<Utf8PathBuf>,
    /// The parts of the rules that an ablation leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules_without: Option<RulesWithout>,
    /// Directories with a `SKILL.md`, absolute.
    pub skills: Vec<Utf8PathBuf>,
    /// Tools that the agent is not offered, by the name of their server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hide_tools: BTreeMap<String, Vec<String>>,
    /// The agent's own settings.
    pub config: Option<serde_json::Value>,
    /// Options that mean the same for every agent.
    #[serde(default, skip_serializing_if = "AgentOptions::is_empty")]
    pub options: AgentOptions,
    /// A command that runs after all `before` actions.
    pub command: Option<ShellCommand>,
    /// The sandbox that is asked for; `None` is the best that the machine can make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
    /// The network that is asked for; `None` is the default of the sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Further hosts that the agent reaches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<HostPattern>,
}

impl AppliedSetup {
    /// Returns the network of the agent, if its sandbox is this one. Without a sandbox it is that of the machine.
    pub fn network_in(&self, contained_by: ContainedBy) -> Network {
        match contained_by {
            ContainedBy::None => Network::Open,
            _ => self.network.clone().unwrap_or(Network::Model),
        }
    }
}

/// The two roles of a set-up.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Environment,
    Experiment,
}

/// An environment or an experiment.
pub(super) fn setup(role: Role) -> Kind<Setup> {
    let (definition, about, name) = match role {
        Role::Environment => (
            "environment",
            "A setup that the evals run in.",
            "[environment](terca-yaml.md#environments-and-experiments)",
        ),
        Role::Experiment => (
            "experiment",
            "A change that is applied to every environment: `null` removes, maps are merged, all else replaces.",
            "[experiment](terca-yaml.md#environments-and-experiments)",
        ),
    };
    object(definition, "an environment or experiment", move |fields| {
        fields_of(fields, role)
    })
    .about(about)
    .example("{name: default, agent: codex}")
    .linked(name)
    .kind()
}

fn fields_of(fields: &mut Fields<'_, '_>, role: Role) -> Option<Setup> {
    let name = fields.required(
        "name",
        filled_text(),
        "The name in selections, tables and results.",
    );
    let description = fields.optional("description", text().value(), "A text for people.");
    let setup = of_agent(fields);
    let setup = with_options(fields, setup);
    let setup = with_surroundings(fields, setup);
    let baseline = baseline(fields, role);
    let name = name?;
    Some(Setup {
        description,
        name: name.value,
        place: Some(name.place),
        baseline,
        ..setup
    })
}

/// Declares the agent, and what it is given.
fn of_agent(fields: &mut Fields<'_, '_>) -> Setup {
    Setup {
        agent: fields.patch(
            "agent",
            agent_choice().map(|choice| choice.value),
            "The [agent](agents.md) that does the work. A variant without one is an error, unless `--agent` gives \
             one.",
        ),
        model: fields.patch(
            "model",
            filled_text(),
            "The model, set by the agent's own option or setting.",
        ),
        rules: fields.patch(
            "rules",
            one_or_more(filled_text().called("path").then(|path, reader| rules_file(&path, reader))),
            "Rules files, installed where the agent reads its project rules, after any that the workspace has there.",
        ),
        mcp_servers: fields.patch(
            "mcpServers",
            mcp_servers(),
            "The MCP servers that the agent can use.",
        ),
        hide_tools: fields.patch(
            "hideTools",
            hide_tools(),
            "Tools of MCP servers that the agent [is not offered](terca-yaml.md#hidden-tools), by the name of their \
             server.",
        ),
        skills: fields.patch(
            "skills",
            one_or_more(filled_text().called("path").then(|path, reader| skill(&path, reader))).then(different_skills),
            "Directories with a `SKILL.md`, installed where the agent reads its project skills.",
        ),
        config: fields.patch(
            "config",
            agent_settings().then(warn_of_servers),
            "The agent's own settings, merged into those that Terca writes.",
        ),
        env: fields.patch(
            "env",
            trial_variables(),
            "[Environment variables](terca-yaml.md#variables) of every command of a trial.",
        ),
        command: fields.patch(
            "command",
            command(),
            "A command that runs in the workspace after all `before` actions.",
        ),
        ..Setup::default()
    }
}

/// Declares options that mean the same for every agent that has them.
fn with_options(fields: &mut Fields<'_, '_>, setup: Setup) -> Setup {
    let append = object("systemPrompt", "`systemPrompt`", |fields| {
        let text = fields.required(
            "append",
            filled_text(),
            "A text after the agent's own system prompt.",
        );
        text.map(|text| text.value)
    });
    Setup {
        effort: fields.patch(
            "effort",
            filled_text().value(),
            "The effort of the model, in the agent's own words, such as `low` or `high`. See \
             [options](terca-yaml.md#options-of-agents).",
        ),
        max_turns: fields.patch("maxTurns", count().value(), "The most turns of a session."),
        system_prompt: fields.patch(
            "systemPrompt",
            append
                .example("{append: Answer in English.}")
                .linked("[map](terca-yaml.md#options-of-agents)")
                .kind(),
            "A text after the agent's own system prompt.",
        ),
        disallowed_tools: fields.patch(
            "disallowedTools",
            one_or_more(filled_text().value()),
            "Tools of the agent that it may not use, by the agent's own names.",
        ),
        temperature: fields.patch(
            "temperature",
            not_negative().value(),
            "The temperature of the model.",
        ),
        args: fields.patch(
            "args",
            list_of(text().value()),
            "Further arguments of the agent's command line, after those of Terca.",
        ),
        ..setup
    }
}

/// Declares what surrounds the agent's work.
fn with_surroundings(fields: &mut Fields<'_, '_>, setup: Setup) -> Setup {
    Setup {
        before: added_actions(
            fields,
            "before",
            "Actions that run in every trial, the environment's before the experiment's. \
             [They add up](terca-yaml.md#replaced-merged-added-up).",
        ),
        services: fields.patch(
            "services",
            services(),
            "Programs beside the trial, such as a [database](terca-yaml.md#services). One takes the place of the suite's \
             of the same name.",
        ),
        preamble: fields.added("preamble",
            text().value(),
            |text| text.trim().is_empty(),
            "Text before the [prompt](terca-yaml.md#the-prompt), inside the suite's. \
             [It adds up](terca-yaml.md#replaced-merged-added-up).",
        ),
        postamble: fields.added("postamble",
            text().value(),
            |text| text.trim().is_empty(),
            "Text after the prompt, inside the suite's. [It adds up](terca-yaml.md#replaced-merged-added-up).",
        ),
        timeout: fields.patch(
            "timeoutSeconds",
            seconds(),
            "The agent's time limit in one trial. It takes precedence over the suite's, and an eval's own over both.",
        ),
        limits: fields.patch(
            "limits",
            limits(),
            "The most that a trial may use, instead of the same limits of the suite.",
        ),
        sandbox: fields.patch(
            "sandbox",
            sandbox(),
            "The [sandbox](terca-yaml.md#sandbox) of every command of a trial, instead of the suite's.",
        ),
        network: fields.patch(
            "network",
            network(),
            "The [network](terca-yaml.md#network) of an agent in a sandbox, instead of the suite's.",
        ),
        allow: fields.patch(
            "allow",
            hosts(),
            "Hosts that an agent in a sandbox reaches beside its [network](terca-yaml.md#network). \
             [It adds up](terca-yaml.md#replaced-merged-added-up).",
        ),
        gateway: fields.patch(
            "gateway",
            gateway(),
            "The mode of [Terca's gateway](../explanations/gateway.md), instead of the suite's `gateway`.",
        ),
        require_delivery: fields.patch(
            "requireDelivery",
            boolean().value(),
            "Whether [delivery is required](../explanations/delivery.md), instead of the suite's `requireDelivery`.",
        ),
        ..setup
    }
}

/// Warns of MCP servers among an agent's settings. The keys are those of agents in common use.
fn warn_of_servers(settings: Node, reader: &mut Reader<'_>) -> Option<Node> {
    if let Value::Map(entries) = &settings.value {
        for (key, _) in entries {
            if matches!(key.value.as_str(), "mcpServers" | "mcp_servers") {
                reader.problems.push(
                    Diagnostic::warning(
                        Code::DoubtfulValue,
                        "MCP servers in `config` reach the agent, but Terca does not know them",
                    )
                    .at(
                        key.place,
                        "Terca cannot tell whether they connect or are used",
                    )
                    .help("move them to `mcpServers`, beside `config`"),
                );
            }
        }
    }
    Some(settings)
}

/// Declares `baseline`, which only experiments have.
fn baseline(fields: &mut Fields<'_, '_>, role: Role) -> Option<Place> {
    if role == Role::Experiment {
        let flag = fields.optional(
            "baseline",
            boolean(),
            "Marks the experiment that the others are compared with. Only for experiments. Default: the first one.",
        );
        return flag.filter(|flag| flag.value).map(|flag| flag.place);
    }
    let flag = fields.misplaced("baseline", boolean())?;
    fields.refuse(
        Diagnostic::error(Code::MisplacedKey, "`baseline` belongs to an experiment")
            .at(flag.place, "an environment is not compared with others")
            .help("move it to the experiment that the others are compared with"),
    )
}

fn rules_file(path: &Located<String>, reader: &mut Reader<'_>) -> Option<Utf8PathBuf> {
    let file = reader.existing(path, "rules file", &[PathKind::File])?;
    let text = reader.surroundings.read_text(&file);
    if text.is_ok_and(|text| text.trim().is_empty()) {
        let message = format!("rules file `{}` is empty", path.value);
        reader.problems.push(
            Diagnostic::warning(Code::EmptyRules, message)
                .at(path.place, "the agent gets no rules")
                .help("write the rules, or remove `rules`"),
        );
    }
    Some(file)
}

/// Resolves a skill, which is a directory with a `SKILL.md`.
fn skill(written: &Located<String>, reader: &mut Reader<'_>) -> Option<Located<Utf8PathBuf>> {
    let dir = reader.existing(written, "skill", &[PathKind::Directory])?;
    if reader.is_there(&dir.join("SKILL.md"), PathKind::File) {
        return Some(Located::new(dir, written.place));
    }
    let message = format!("skill `{}` has no SKILL.md", written.value);
    reader.refuse(
        Diagnostic::error(Code::MissingFile, message)
            .at(written.place, format!("looked in {dir}"))
            .help("a skill is a directory with a SKILL.md in it"),
    )
}

/// Refuses two skills of one name. A skill is named after its directory.
fn different_skills(
    skills: Vec<Located<Utf8PathBuf>>,
    reader: &mut Reader<'_>,
) -> Option<Vec<Utf8PathBuf>> {
    let names = (skills.iter()).map(|skill| {
        let name = skill.value.file_name().unwrap_or_default();
        Located::new(name.to_owned(), skill.place)
    });
    unique(&names.collect::<Vec<_>>(), "skill", str::to_owned, reader);
    Some(skills.into_iter().map(|skill| skill.value).collect())
}
