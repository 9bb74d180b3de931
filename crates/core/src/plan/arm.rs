//! A variant with the setups that it is made of, and the settings in them that spoil it.

use std::sync::Arc;

use super::Variant;
use super::setups::Setups;
use crate::agent::Capabilities;
use crate::config::gateway::GatewayMode;
use crate::config::sandbox::Sandbox;
use crate::config::suite::{Setup, Suite};
use crate::text::{Code, Diagnostic, Diagnostics, prose};
use crate::wire::network::Network;

/// A variant, with the setups that it is made of.
pub(super) struct Arm<'a> {
    pub variant: Arc<Variant>,
    pub setups: Setups<'a>,
    /// The part of the gateway that is asked for.
    pub gateway: Option<GatewayMode>,
    pub require_delivery: bool,
}

/// Tells whether a setup gives something to its agent.
type Gives = fn(&Setup) -> bool;

impl Arm<'_> {
    /// Reports settings that do not fit together.
    pub(super) fn check(&self, suite: &Suite, problems: &mut Diagnostics) {
        self.check_capabilities(suite, problems);
        self.check_network(suite, problems);
        self.check_allow(suite, problems);
        self.check_version(suite, problems);
        self.check_hidden_tools(&suite.experiments, problems);
        if self.require_delivery && self.gateway == Some(GatewayMode::Off) {
            problems.push(self.no_proof(suite));
        }
    }

    /// Puts a problem at the setup that gives something: the experiment, or else the environment, or else these keys of the
    /// suite.
    fn at_giver(
        &self,
        problem: Diagnostic,
        gives: Gives,
        (suite, keys): (&Suite, &[&str]),
        label: &str,
    ) -> Diagnostic {
        let mut setups = [self.setups.experiment, self.setups.environment].into_iter();
        let giver = setups.find(|setup| gives(setup));
        let place = giver.and_then(|giver| giver.place);
        problem.maybe_at(place.or_else(|| suite.place_of(keys)), label)
    }

    /// Returns the error about a delivery that nothing can prove.
    fn no_proof(&self, suite: &Suite) -> Diagnostic {
        let error = Diagnostic::error(
            Code::WrongValue,
            format!(
                "`requireDelivery` needs the gateway, which is `off` for the experiment `{}` in the environment `{}`",
                self.variant.experiment, self.variant.environment
            ),
        )
        .help("write `gateway: meter`, or leave `gateway` out; `requireDelivery: false` asks for no proof");
        self.at_giver(
            error,
            |setup| setup.gateway.set().is_some() || setup.require_delivery.set().is_some(),
            (suite, &["gateway", "requireDelivery"]),
            "only requests that pass through the gateway are searched",
        )
    }

    /// Reports a network that only a sandbox can make, where there is none.
    fn check_network(&self, suite: &Suite, problems: &mut Diagnostics) {
        let asked = self.variant.network.as_ref();
        let Some(asked) = asked.filter(|asked| **asked != Network::Open) else {
            return;
        };
        if self.variant.sandbox != Some(Sandbox::None) {
            return;
        }
        let error = Diagnostic::error(
            Code::WrongValue,
            format!(
                "`network`: {} needs a sandbox, and the experiment `{}` in the environment `{}` has none",
                asked.words(&[]),
                self.variant.experiment,
                self.variant.environment
            ),
        )
        .help("write `sandbox: auto`, or run with `--sandbox auto`; without a sandbox only `network: open` is possible");
        problems.push(self.at_giver(
            error,
            |setup| setup.network.set().is_some() || setup.sandbox.set().is_some(),
            (suite, &["network", "sandbox"]),
            "the agent would reach everything that you can",
        ));
    }

    /// Reports a version of an agent that a container would not have.
    fn check_version(&self, suite: &Suite, problems: &mut Diagnostics) {
        let has_container = (self.variant.sandbox.as_ref()).is_some_and(Sandbox::is_container);
        if self.variant.agent.version.is_none() || !has_container {
            return;
        }
        let message = format!(
            "`version` is not supported in a container, which the experiment `{}` in the environment `{}` has",
            self.variant.experiment, self.variant.environment
        );
        let error = Diagnostic::error(Code::WrongValue, message).help(
            "install that version in the image, and remove `version`; or choose another sandbox",
        );
        problems.push(self.at_giver(
            error,
            |setup| {
                setup
                    .agent
                    .set()
                    .is_some_and(|agent| agent.version.is_some())
            },
            (suite, &["sandbox"]),
            "Terca installs agents on this machine, and a container has those of its image",
        ));
    }

    /// Warns of hosts that change nothing: without a network of its own an agent reaches everything, and with none nothing.
    fn check_allow(&self, suite: &Suite, problems: &mut Diagnostics) {
        if self.variant.allow.is_empty() {
            return;
        }
        let (reason, help) = match (&self.variant.sandbox, &self.variant.network) {
            (Some(Sandbox::None), _) => (
                "`allow` changes nothing without a sandbox",
                "write `sandbox: auto`, or leave `allow` out",
            ),
            (_, Some(Network::Off)) => (
                "`allow` changes nothing where `network` is `off`",
                "write `network: model`, or name the hosts in `network` itself",
            ),
            (_, Some(Network::Open)) => (
                "`allow` changes nothing where `network` is `open`",
                "write `network: model`, or leave `allow` out",
            ),
            _ => return,
        };
        problems.push(self.at_giver(
            Diagnostic::warning(Code::DoubtfulValue, reason).help(help),
            |setup| setup.allow.set().is_some(),
            (suite, &["allow"]),
            "its agent reaches the same hosts without it",
        ));
    }

    /// Reports settings that the agent cannot take. To ignore them would spoil the experiment.
    fn check_capabilities(&self, suite: &Suite, problems: &mut Diagnostics) {
        let variant = &self.variant;
        let profile = variant.agent.agent.profile();
        let Capabilities {
            model,
            rules,
            mcp_servers,
            skills,
            config,
        } = profile.capabilities;
        let given: [(&str, bool, Gives); 5] = [
            ("model", variant.model.is_some() && !model, |setup| {
                setup.model.set().is_some()
            }),
            ("rules", !variant.rules.is_empty() && !rules, |setup| {
                setup.rules.set().is_some()
            }),
            (
                "mcpServers",
                !variant.mcp_servers.is_empty() && !mcp_servers,
                |setup| setup.mcp_servers.set().is_some(),
            ),
            ("skills", !variant.skills.is_empty() && !skills, |setup| {
                setup.skills.set().is_some()
            }),
            ("config", variant.config.is_some() && !config, |setup| {
                setup.config.set().is_some()
            }),
        ];
        let refused = given.into_iter().filter(|(_, is_refused, _)| *is_refused);
        let mut refused: Vec<(&str, Gives)> =
            refused.map(|(field, _, gives)| (field, gives)).collect();
        if !profile.is_built_in() {
            let options = &variant.options;
            let fields = options.refused(&profile.options, profile.program.is_some());
            refused.extend(fields.into_iter().map(|field| (field, gives_option(field))));
        }
        for (field, gives) in refused {
            let error = Diagnostic::error(
                Code::AgentCannot,
                format!("the agent `{}` cannot be given `{field}`", profile.name),
            )
            .help(format!("remove `{field}`, or choose another agent"));
            let giver = match gives(self.setups.experiment) {
                true => &variant.experiment,
                false => &variant.environment,
            };
            let label = format!("`{giver}` has `{field}`");
            problems.push(self.at_giver(error, gives, (suite, &[field]), &label));
        }
    }

    /// Reports servers of `hideTools` that there are not: nothing would be hidden.
    fn check_hidden_tools(&self, experiments: &[Setup], problems: &mut Diagnostics) {
        let Setups {
            environment,
            experiment,
        } = self.setups;
        let has = |setup: &Setup, server: &str| {
            let mut servers = setup.mcp_servers.set().into_iter().flatten();
            servers.any(|(name, _)| name.value == server)
        };
        let known: Vec<&str> = (self.variant.mcp_servers.iter())
            .map(|(name, _)| name.as_str())
            .collect();
        // An ablation may have left out a server of the variant, and an environment may hide tools of a server that only some
        // experiments have.
        let is_known = |server: &str, giver: &Setup| match std::ptr::eq(giver, experiment) {
            true => known.contains(&server) || has(experiment, server),
            false => has(environment, server) || experiments.iter().any(|it| has(it, server)),
        };
        for giver in [experiment, environment] {
            for (server, _) in giver.hide_tools.set().into_iter().flatten() {
                if is_known(&server.value, giver) {
                    continue;
                }
                let message = format!("`hideTools`: there is no MCP server `{}`", server.value);
                let error = Diagnostic::error(Code::WrongValue, message).at(
                    server.place,
                    "expected the name of a server in `mcpServers`",
                );
                problems.push(match known.is_empty() {
                    true => error,
                    false => error.help(format!(
                        "the servers of `{}` are {}",
                        self.variant.label(),
                        prose::quoted_list(&known, "and")
                    )),
                });
            }
        }
    }
}

/// Returns whether a set-up has an option of an agent.
fn gives_option(field: &str) -> Gives {
    match field {
        "effort" => |setup| setup.effort.set().is_some(),
        "maxTurns" => |setup| setup.max_turns.set().is_some(),
        "systemPrompt" => |setup| setup.system_prompt.set().is_some(),
        "disallowedTools" => |setup| setup.disallowed_tools.set().is_some(),
        "temperature" => |setup| setup.temperature.set().is_some(),
        _ => |setup| setup.args.set().is_some(),
    }
}
