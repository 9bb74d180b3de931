//! An experiment applied to an environment: a value replaces, `null` removes, maps are merged, and some fields add up.
//!
//! For fields that add up, the levels are the suite, the environment and the experiment; an eval is inside the suite.
//! Each level adds to what the levels around it have, and `null` drops what they have. So `null` in an experiment drops
//! what the suite and the environment add, `null` in an environment drops what the suite adds, and so does `null` in an
//! eval. An eval's own `before` belongs to its task: no variant drops it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::interpolate::{Interpolator, merged};
use crate::agent::mcp::McpServer;
use crate::agent::options::AgentOptions;
use crate::agent::{AgentChoice, AgentRef};
use crate::config::Patch;
use crate::config::gateway::GatewayMode;
use crate::config::sandbox::Sandbox;
use crate::config::service::same_port;
use crate::config::suite::{AppliedSetup, Eval, LimitSettings, Service, Setup, Suite};
use crate::reader::Node;
use crate::text::{Code, Diagnostic, json, prose};
use crate::wire::network::{HostPattern, Network};

/// Settings of the command line that take precedence over the suite's.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The agent of every variant.
    pub agent: Option<AgentChoice>,
    /// The model of every variant.
    pub model: Option<String>,
    /// The number of repetitions of every eval.
    pub repetitions: Option<u32>,
    /// The agent's time limit.
    pub timeout: Option<Duration>,
    /// The sandbox of every variant.
    pub sandbox: Option<Sandbox>,
    /// The network of every contained agent.
    pub network: Option<Network>,
    /// The part of the gateway in every trial.
    pub gateway: Option<GatewayMode>,
}

/// An environment, and the experiment that is applied to it.
#[derive(Clone, Copy)]
pub(super) struct Setups<'a> {
    pub environment: &'a Setup,
    pub experiment: &'a Setup,
}

/// A field of a setup.
type Field<T> = fn(&Setup) -> &Patch<T>;

impl<'a> Setups<'a> {
    /// Returns the value of a field that is replaced as a whole.
    pub(super) fn value<T>(self, field: Field<T>) -> Option<&'a T> {
        field(self.experiment).applied_to(field(self.environment))
    }

    /// Returns what is left of a field that adds up: the suite's, the eval's, the environment's, the experiment's.
    pub(super) fn added_up<T>(
        self,
        suite: Option<&'a T>,
        eval: Option<&'a Patch<T>>,
        field: Field<T>,
    ) -> impl DoubleEndedIterator<Item = &'a T> + use<'a, T> {
        let (environment, experiment) = (field(self.environment), field(self.experiment));
        let drops = |level: &Patch<T>| matches!(level, Patch::Remove);
        let drops_suite = eval.is_some_and(drops) || drops(environment) || drops(experiment);
        let levels = [
            suite.filter(|_| !drops_suite),
            eval.and_then(Patch::set),
            environment.set().filter(|_| !drops(experiment)),
            experiment.set(),
        ];
        levels.into_iter().flatten()
    }

    /// Returns the settings for the agent that does the work, with variables filled in. A value of the command line takes
    /// the place of theirs.
    pub(super) fn applied(
        self,
        agent: AgentRef,
        suite: &Suite,
        overrides: &Overrides,
        interpolator: &mut Interpolator<'_>,
    ) -> AppliedSetup {
        let nothing = Setup::default();
        let own = self.for_agent(agent, &nothing);
        let mut fill = |config: &Node| config.filled(&mut |text| interpolator.fill(text));
        let over = &own.experiment.config;
        let below = own.environment.config.set();
        let mut config = below.filter(|_| *over != Patch::Remove).map(&mut fill);
        if let Patch::Set(over) = over {
            json::merge(config.get_or_insert_default(), &fill(over));
        }
        let model = || {
            let model = own.value(|setup| &setup.model)?;
            // An empty variable names no model.
            Some(interpolator.public(model).text).filter(|model| !model.is_empty())
        };
        AppliedSetup {
            model: overrides.model.clone().or_else(model),
            rules: (self.value(|setup| &setup.rules).cloned()).unwrap_or_default(),
            rules_without: self.experiment.rules_without.clone(),
            skills: (self.value(|setup| &setup.skills).cloned()).unwrap_or_default(),
            hide_tools: self.hidden_tools(),
            config,
            options: self.options(),
            command: self.value(|setup| &setup.command).cloned(),
            sandbox: (overrides.sandbox.as_ref())
                .or(self.value(|setup| &setup.sandbox))
                .or(suite.sandbox.as_ref())
                .cloned(),
            network: (overrides.network.as_ref())
                .or(self.value(|setup| &setup.network))
                .or(suite.network.as_ref())
                .cloned(),
            allow: self.allowed(suite),
        }
    }

    fn options(self) -> AgentOptions {
        AgentOptions {
            effort: self.value(|setup| &setup.effort).cloned(),
            max_turns: self.value(|setup| &setup.max_turns).copied(),
            system_prompt: self.value(|setup| &setup.system_prompt).cloned(),
            disallowed_tools: (self.value(|setup| &setup.disallowed_tools).cloned())
                .unwrap_or_default(),
            temperature: self.value(|setup| &setup.temperature).copied(),
            args: (self.value(|setup| &setup.args).cloned()).unwrap_or_default(),
        }
    }

    /// Returns the limits of a trial.
    pub(super) fn limits(self, suite: &Suite, eval: &Eval) -> LimitSettings {
        let levels = self.added_up(Some(&suite.limits), None, |setup| &setup.limits);
        let levels = levels.chain([&eval.limits]);
        levels.fold(LimitSettings::default(), |below, own| own.over(below))
    }

    /// Returns the services of a trial, with variables filled in. One takes the place of that with its name below.
    pub(super) fn services(
        self,
        suite: &Suite,
        eval: &Eval,
        interpolator: &mut Interpolator<'_>,
    ) -> Vec<Service> {
        let below = self.added_up(Some(&suite.services), None, |setup| &setup.services);
        let below = below.filter(|_| eval.services != Patch::Remove);
        let mut services: Vec<Service> = Vec::new();
        for written in below.chain(eval.services.set()).flatten() {
            let service =
                written.with_env(|(name, value)| (name.clone(), interpolator.fill(value)));
            match services.iter_mut().find(|known| known.name == service.name) {
                Some(known) => *known = service,
                None => services.push(service),
            }
        }
        if let Some(problem) = same_port(&services) {
            interpolator.problems.push(problem);
        }
        services
    }

    /// Returns the MCP servers by name, with variables filled in.
    pub(super) fn mcp_servers(
        self,
        interpolator: &mut Interpolator<'_>,
    ) -> Vec<(String, McpServer<String>)> {
        let levels = self.added_up(None, None, |setup| &setup.mcp_servers);
        merged(levels)
            .into_iter()
            .map(|(name, server)| (name.to_owned(), interpolator.server(server)))
            .collect()
    }

    /// Returns the tools that are hidden, by server.
    fn hidden_tools(self) -> BTreeMap<String, Vec<String>> {
        let levels = self.added_up(None, None, |setup| &setup.hide_tools);
        let mut all: BTreeMap<String, Vec<String>> = merged(levels)
            .into_iter()
            .map(|(server, tools)| (server.to_owned(), tools.clone()))
            .collect();
        for (server, left_out) in &self.experiment.tools_left_out {
            let tools = all.entry(server.clone()).or_default();
            tools.extend(left_out.iter().cloned());
        }
        all.retain(|_, tools| !tools.is_empty());
        all
    }

    /// Returns the hosts of all levels, each once.
    fn allowed(self, suite: &Suite) -> Vec<HostPattern> {
        let mut hosts: Vec<HostPattern> = Vec::new();
        for host in (self.added_up(Some(&suite.allow), None, |setup| &setup.allow)).flatten() {
            if !hosts.contains(host) {
                hosts.push(host.clone());
            }
        }
        hosts
    }

    /// Returns the agents that `model` and `config` are written for: those that are named beside them, or below them.
    fn named_agents(self) -> [Option<&'a AgentChoice>; 2] {
        [
            self.environment.agent.set(),
            self.value(|setup| &setup.agent),
        ]
    }

    /// Returns the setups whose `model` and `config` this agent understands, and nothing in the place of others.
    fn for_agent<'b>(self, agent: AgentRef, nothing: &'b Setup) -> Setups<'b>
    where
        'a: 'b,
    {
        let is_for = |named: Option<&AgentChoice>| named.is_none_or(|named| named.agent == agent);
        let [below, above] = self.named_agents();
        Setups {
            environment: if is_for(below) {
                self.environment
            } else {
                nothing
            },
            experiment: if is_for(above) {
                self.experiment
            } else {
                nothing
            },
        }
    }

    /// Returns the settings that are for another agent than this one. What is replaced anyway is not worth a word.
    pub(super) fn unused(self, agent: AgentRef, overrides: &Overrides) -> Vec<UnusedSettings> {
        let nothing = Setup::default();
        let over = self.for_agent(agent, &nothing).experiment;
        let [below, above] = self.named_agents();
        let setups = [
            ("environment", self.environment, below, over),
            ("experiment", self.experiment, above, &nothing),
        ];
        let unused = setups
            .into_iter()
            .filter_map(|(owner, setup, named, over)| {
                let written_for = named.filter(|named| named.agent != agent)?;
                let mut keys = Vec::new();
                let has_model = setup.model.set().is_some() && over.model == Patch::Keep;
                if has_model && overrides.model.is_none() {
                    keys.push("model");
                }
                if setup.config.set().is_some() && over.config == Patch::Keep {
                    keys.push("config");
                }
                (!keys.is_empty()).then(|| UnusedSettings {
                    owner,
                    keys: prose::quoted_list(&keys, "and"),
                    written_for: written_for.agent.profile().name,
                })
            });
        unused.collect()
    }
}

/// Settings that a variant leaves out, since they are for another agent than the one that does the work.
pub(super) struct UnusedSettings {
    owner: &'static str,
    keys: String,
    written_for: &'static str,
}

impl UnusedSettings {
    /// Says it in words.
    pub(super) fn sentence(&self) -> String {
        let UnusedSettings {
            owner,
            keys,
            written_for,
        } = self;
        format!("without effect: the {owner}'s {keys}, written for {written_for}")
    }

    /// Warns of an experiment that changes the agent and leaves the environment's settings in place. An agent of the command
    /// line is a choice of the moment, and no mistake.
    pub(super) fn warning(&self, experiment: &Setup) -> Option<Diagnostic> {
        let UnusedSettings {
            owner,
            keys,
            written_for,
        } = self;
        let changed_to = experiment.agent.set().filter(|_| *owner == "environment")?;
        let place = experiment.place?;
        let message = format!(
            "the experiment `{}` changes the agent to `{}`, which does not get the environment's {keys}",
            experiment.name,
            changed_to.agent.profile().name
        );
        let warning = Diagnostic::warning(Code::SettingsOfAnother, message).at(
            place,
            format!("{keys} of the environment: written for `{written_for}`"),
        );
        Some(warning.help(format!(
            "give the experiment its own {keys}; `null` chooses the agent's default"
        )))
    }
}
