//! A variant with the setups that it is made of, and the settings in them that spoil it.

use std::sync::Arc;

use super::Variant;
use crate::agent::Capabilities;
use crate::config::sandbox::Sandbox;
use crate::config::suite::Setup;
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::Located;
use crate::wire::network::Network;

/// A variant, with the setups that it is made of.
pub(super) struct Arm<'a> {
    pub(super) variant: Arc<Variant>,
    pub(super) environment: &'a Setup,
    pub(super) experiment: &'a Setup,
}

impl Arm<'_> {
    /// Reports settings that do not fit together. `experiments` are all of the suite.
    pub(super) fn check(&self, experiments: &[Setup], problems: &mut Diagnostics) {
        check_capabilities(self, problems);
        check_network(self, problems);
        check_allow(self, problems);
        check_hidden_tools(self, experiments, problems);
    }

    /// Returns the error about a delivery that nothing can prove.
    pub(super) fn no_proof(&self) -> Diagnostic {
        let error = Diagnostic::error(
            Code::WrongValue,
            format!(
                "`requireDelivery` needs the gateway, which is `off` for the experiment `{}` in the environment `{}`",
                self.experiment.name, self.environment.name
            ),
        )
        .help("write `gateway: meter`, or leave `gateway` out; `requireDelivery: false` asks for no proof");
        let givers = [self.experiment, self.environment];
        let giver = givers
            .iter()
            .find(|setup| setup.gateway.set().is_some() || setup.require_delivery.set().is_some());
        match giver.and_then(|setup| setup.place) {
            Some(place) => error.at(
                place,
                "only requests that pass through the gateway are searched",
            ),
            None => error,
        }
    }
}

/// Reports a network that only a sandbox can make, where there is none.
fn check_network(arm: &Arm<'_>, problems: &mut Diagnostics) {
    let Arm {
        variant,
        environment,
        experiment,
    } = arm;
    let asked = variant.network.as_ref();
    let Some(asked) = asked.filter(|asked| **asked != Network::Open) else {
        return;
    };
    if variant.sandbox != Some(Sandbox::None) {
        return;
    }
    let mut diagnostic = Diagnostic::error(
        Code::WrongValue,
        format!(
            "`network`: {} needs a sandbox, and the experiment `{}` in the environment `{}` has none",
            asked.words(&[]),
            experiment.name,
            environment.name
        ),
    )
    .help("write `sandbox: auto`, or run with `--sandbox auto`; without a sandbox only `network: open` is possible");
    let is_from_experiment =
        experiment.network.set().is_some() || experiment.sandbox.set().is_some();
    let giver = if is_from_experiment {
        experiment
    } else {
        environment
    };
    if let Some(place) = giver.place {
        diagnostic = diagnostic.at(place, "the agent would reach everything that you can");
    }
    problems.push(diagnostic);
}

/// Warns of hosts that change nothing: without a network of its own an agent reaches everything, and with none nothing.
fn check_allow(arm: &Arm<'_>, problems: &mut Diagnostics) {
    let variant = &arm.variant;
    if variant.allow.is_empty() {
        return;
    }
    let (reason, help) = match (variant.sandbox.as_ref(), variant.network.as_ref()) {
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
    let mut warning = Diagnostic::warning(Code::DoubtfulValue, reason).help(help);
    let givers = [arm.experiment, arm.environment];
    let giver = givers.iter().find(|setup| setup.allow.set().is_some());
    if let Some(place) = giver.and_then(|setup| setup.place) {
        warning = warning.at(place, "its agent reaches the same hosts without it");
    }
    // What the suite allows is the same for all variants.
    let is_known = problems.iter().any(|other| {
        other.message == warning.message && other.labels.is_empty() && warning.labels.is_empty()
    });
    if !is_known {
        problems.push(warning);
    }
}

/// Reports settings that the agent cannot take. To ignore them would spoil the experiment.
fn check_capabilities(arm: &Arm<'_>, problems: &mut Diagnostics) {
    let Arm {
        variant,
        environment,
        experiment,
    } = arm;
    let profile = variant.agent.agent.profile();
    let Capabilities {
        model,
        rules,
        mcp_servers,
        skills,
        config,
    } = profile.capabilities;
    let given = [
        (
            "model",
            variant.model.is_some() && !model,
            experiment.model.set().is_some(),
        ),
        (
            "rules",
            !variant.rules.is_empty() && !rules,
            experiment.rules.set().is_some(),
        ),
        (
            "mcpServers",
            !variant.mcp_servers.is_empty() && !mcp_servers,
            experiment.mcp_servers.set().is_some(),
        ),
        (
            "skills",
            !variant.skills.is_empty() && !skills,
            experiment.skills.set().is_some(),
        ),
        (
            "config",
            variant.config.is_some() && !config,
            experiment.config.set().is_some(),
        ),
    ];
    for (field, _, by_experiment) in given.iter().filter(|(_, refused, _)| *refused) {
        let giver = if *by_experiment {
            experiment
        } else {
            environment
        };
        let diagnostic = Diagnostic::error(
            Code::AgentCannot,
            format!("the agent `{}` cannot be given `{field}`", profile.name),
        )
        .help(format!("remove `{field}`, or choose another agent"));
        problems.push(match giver.place {
            Some(place) => diagnostic.at(place, format!("`{}` has `{field}`", giver.name)),
            None => diagnostic,
        });
    }
}

/// Reports servers of `hideTools` that there are not: nothing would be hidden.
fn check_hidden_tools(arm: &Arm<'_>, experiments: &[Setup], problems: &mut Diagnostics) {
    let given = |setup: &Setup| -> Vec<Located<String>> {
        let servers = setup.hide_tools.set().into_iter().flatten();
        servers.map(|(server, _)| server.clone()).collect()
    };
    let has = |setup: &Setup, server: &str| {
        let mut servers = setup.mcp_servers.set().into_iter().flatten();
        servers.any(|(name, _)| name == server)
    };
    let of_variant = |server: &str| {
        let mut servers = arm.variant.mcp_servers.iter();
        // An ablation may have left it out.
        servers.any(|(name, _)| name == server) || has(arm.experiment, server)
    };
    // An environment may hide tools of a server that only some experiments have.
    let of_any = |server: &str| {
        has(arm.environment, server) || experiments.iter().any(|setup| has(setup, server))
    };
    let of_experiment = given(arm.experiment);
    let unknown = of_experiment
        .into_iter()
        .filter(|name| !of_variant(&name.value));
    let of_environment = given(arm.environment);
    let unknown = unknown.chain(
        of_environment
            .into_iter()
            .filter(|name| !of_any(&name.value)),
    );
    for server in unknown {
        let known = arm
            .variant
            .mcp_servers
            .iter()
            .map(|(name, _)| name.as_str());
        let known: Vec<&str> = known.collect();
        let message = format!("`hideTools`: there is no MCP server `{}`", server.value);
        let mut error = Diagnostic::error(Code::WrongValue, message).at(
            server.place,
            "expected the name of a server in `mcpServers`",
        );
        if !known.is_empty() {
            let known = prose::quoted_list(&known, "and");
            error = error.help(format!(
                "the servers of `{}` are {known}",
                arm.variant.label()
            ));
        }
        let is_known = (problems.iter())
            .any(|other| other.message == error.message && other.labels == error.labels);
        if !is_known {
            problems.push(error);
        }
    }
}
