//! Expands a suite and a selection into a plan: environments × experiments × evals × repetitions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::mcp::McpServer;
use crate::agent::{AgentChoice, Capabilities};
use crate::config::Patch;
use crate::config::adds_up::Levels;
use crate::config::gateway::{GatewayMode, GatewaySettings};
use crate::config::interpolate::Interpolator;
use crate::config::sandbox::Sandbox;
use crate::config::setup::Containment;
use crate::config::suite::{Action, Eval, Setup, Suite, Template, Variables};
use crate::network::Network;
use crate::plan::selection::{Selection, select};
use crate::plan::{Case, Layer, Plan, PreparedLayer, TrialSpec, Variant, trial_folder};
use crate::plan::{identical, judges};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::Located;

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

/// The most trials of a plan. Each takes about 2 kB of memory before it has run, and more in the journal and the
/// results afterwards.
const MOST_TRIALS: u64 = 100_000;

/// Returns the trials that a selection of a suite comes to. Ids do not depend on the order of the run.
pub fn expand(
    suite: &Suite,
    selection: &Selection,
    overrides: &Overrides,
    variable: &dyn Fn(&str) -> Option<String>,
    problems: &mut Diagnostics,
) -> Plan {
    let selected = select(suite, selection, problems);
    let mut expansion = Expansion {
        suite: &Arc::new(suite.clone()),
        overrides,
        interpolator: Interpolator {
            variable,
            secrets: Vec::new(),
            problems,
        },
    };
    let mut arms = Vec::new();
    for environment in &selected.environments {
        for experiment in &selected.experiments {
            arms.extend(expansion.arm(environment, experiment));
        }
    }
    let repetitions_of = |eval: &Eval| {
        let own = overrides.repetitions.or(eval.repetitions);
        own.unwrap_or(suite.repetitions.most())
    };
    let repetitions: Vec<u32> = selected
        .evals
        .iter()
        .map(|eval| repetitions_of(eval))
        .collect();
    let is_too_large = refuse_too_many(arms.len(), &repetitions, expansion.interpolator.problems);
    let suite_layers = expansion.suite_layers();
    let mut trials = Vec::new();
    let evals = if is_too_large {
        Vec::new()
    } else {
        selected.evals
    };
    for eval in evals {
        let layers = expansion.eval_layers(eval, &suite_layers);
        let repetitions = repetitions_of(eval);
        for arm in &arms {
            judges::check(eval, &arm.variant, expansion.interpolator.problems);
            let case = Arc::new(expansion.case(eval, layers.clone(), arm));
            for repetition in 1..=repetitions {
                trials.push(TrialSpec {
                    id: trials.len() as u32 + 1,
                    dir: trial_folder(
                        &case.eval.name,
                        &case.variant.environment,
                        &case.variant.experiment,
                        repetition,
                    ),
                    case: case.clone(),
                    repetition,
                });
            }
        }
    }
    let mut secrets = expansion.interpolator.secrets;
    for eval in &suite.evals {
        let of_judges = judges::judges_of(eval).flat_map(|(_, judge)| judge.secrets.clone());
        secrets.extend(of_judges);
    }
    let identical_to_baseline = identical::check(suite, &trials, problems);
    problems.sort();
    Plan {
        trials,
        secrets,
        adaptive: suite
            .repetitions
            .adaptive()
            .filter(|_| overrides.repetitions.is_none()),
        identical_to_baseline,
    }
}

/// Refuses a plan with more trials than can be, before memory is taken for them.
fn refuse_too_many(variants: usize, repetitions: &[u32], problems: &mut Diagnostics) -> bool {
    let of_all_evals: u64 = repetitions.iter().copied().map(u64::from).sum();
    let trials = of_all_evals.saturating_mul(variants as u64);
    if trials <= MOST_TRIALS {
        return false;
    }
    let evals = prose::count(repetitions.len(), "eval");
    let variants = prose::count(variants, "variant");
    let fewest = repetitions.iter().min().unwrap_or(&0);
    let most = repetitions.iter().max().unwrap_or(&0);
    let each = if fewest == most {
        format!("{most} repetitions")
    } else {
        format!("{fewest} to {most} repetitions")
    };
    problems.push(
        Diagnostic::error(
            Code::OutOfRange,
            format!(
                "{evals} × {variants} × {each} are {trials} trials, and a run has at most {MOST_TRIALS}"
            ),
        )
        .help("lower `repetitions`, or select fewer evals with `-t`"),
    );
    true
}

/// The expansion of one suite.
struct Expansion<'a> {
    suite: &'a Arc<Suite>,
    overrides: &'a Overrides,
    interpolator: Interpolator<'a>,
}

/// A variant, with the set-ups that it is made of.
struct Arm<'a> {
    variant: Arc<Variant>,
    environment: &'a Setup,
    experiment: &'a Setup,
}

impl Expansion<'_> {
    /// Applies an experiment to an environment.
    fn arm<'s>(&mut self, environment: &'s Setup, experiment: &'s Setup) -> Option<Arm<'s>> {
        let chosen = experiment.agent.applied_to(&environment.agent);
        let asked = self.overrides.agent.as_ref().map(|asked| {
            // A set-up that names this agent may name a program of its own for it.
            let mut named = [experiment.agent.set(), environment.agent.set()].into_iter();
            let named = named.find(|named| named.is_some_and(|named| named.agent == asked.agent));
            named.flatten().unwrap_or(asked)
        });
        let Some(agent) = asked.or(chosen) else {
            self.interpolator
                .problems
                .push(no_agent(environment, experiment));
            return None;
        };
        let own_model = self.overrides.model.as_deref();
        let interpolator = &mut self.interpolator;
        let mut setup = experiment.applied_to(
            environment,
            agent.agent,
            own_model,
            Containment {
                sandbox: self.suite.sandbox.as_ref(),
                network: self.suite.network.as_ref(),
                allow: &self.suite.allow,
            },
            interpolator,
        );
        if let Some(sandbox) = &self.overrides.sandbox {
            setup.sandbox = Some(sandbox.clone());
        }
        if let Some(network) = &self.overrides.network {
            setup.network = Some(network.clone());
        }
        let is_open = |network: &Network| *network == Network::Open;
        if !setup.network.as_ref().is_none_or(is_open) {
            // Only a sandbox can make it, so it is no longer a matter of what the machine can do.
            setup.sandbox.get_or_insert(Sandbox::Auto);
        }
        let mut unused = experiment.unused_with(environment, agent.agent);
        if own_model.is_some() {
            unused.retain_mut(|unused| unused.is_left_without("model"));
        }
        let variant = Variant {
            environment: environment.name.clone(),
            experiment: experiment.name.clone(),
            told_experiment: (experiment.real_name.as_ref())
                .unwrap_or(&experiment.name)
                .clone(),
            told_environment: (environment.real_name.as_ref())
                .unwrap_or(&environment.name)
                .clone(),
            agent: agent.clone(),
            mcp_servers: mcp_servers(environment, experiment, &mut self.interpolator),
            setup,
            unused,
        };
        let arm = Arm {
            variant: Arc::new(variant),
            environment,
            experiment,
        };
        check_capabilities(&arm, self.interpolator.problems);
        check_network(&arm, self.interpolator.problems);
        check_allow(&arm, self.interpolator.problems);
        self.check_hidden_tools(&arm);
        let gateway = self.gateway_mode(environment, experiment);
        let is_required = (experiment.require_delivery)
            .applied_to(&environment.require_delivery)
            .copied()
            .unwrap_or(self.suite.require_delivery);
        if is_required && gateway == Some(GatewayMode::Off) {
            self.interpolator.problems.push(no_proof(&arm));
        }
        Some(arm)
    }

    /// Reports servers of `hideTools` that there are not: nothing would be hidden.
    fn check_hidden_tools(&mut self, arm: &Arm<'_>) {
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
        let experiments = &self.suite.experiments;
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
            let is_known = (self.interpolator.problems.iter())
                .any(|other| other.message == error.message && other.labels == error.labels);
            if !is_known {
                self.interpolator.problems.push(error);
            }
        }
    }

    /// Returns `gateway` of the experiment, the environment or the suite.
    fn gateway_settings<'a>(
        &'a self,
        environment: &'a Setup,
        experiment: &'a Setup,
    ) -> Option<&'a GatewaySettings> {
        (experiment.gateway)
            .applied_to(&environment.gateway)
            .or(self.suite.gateway.as_ref())
    }

    /// Returns the part of the gateway that is asked for.
    fn gateway_mode(&self, environment: &Setup, experiment: &Setup) -> Option<GatewayMode> {
        let settings = self.gateway_settings(environment, experiment);
        (self.overrides.gateway).or(settings.map(|settings| settings.mode))
    }

    /// Makes the case of an eval in a variant.
    fn case(&mut self, eval: &Arc<Eval>, layers: Vec<Layer>, arm: &Arm<'_>) -> Case {
        let Arm {
            environment,
            experiment,
            ..
        } = arm;
        let below = match &experiment.env {
            Patch::Remove => None,
            Patch::Keep | Patch::Set(_) => environment.env.set(),
        };
        let setups = [below, experiment.env.set()].into_iter().flatten();
        let variables: Vec<&Variables> = std::iter::once(&self.suite.env)
            .chain(setups)
            .chain([&eval.env])
            .collect();
        let has_judge = judges::judges_of(eval).next().is_some();
        let own_variables: &[&Variables] = if has_judge { &[&self.suite.env] } else { &[] };
        let before = Levels {
            suite: Some(&self.suite.before),
            eval: &eval.before,
            environment: &environment.before,
            experiment: &experiment.before,
        };
        let before = before.added_up().into_iter().flatten();
        let actions: Vec<Action> = before
            .flat_map(|actions| self.interpolator.actions(actions))
            .collect();
        let gateway = self.gateway_mode(environment, experiment);
        // A gateway that is switched off on the command line makes no faults either.
        let inject = (self.gateway_settings(environment, experiment))
            .filter(|_| gateway != Some(GatewayMode::Off))
            .map(|settings| settings.inject.clone());
        Case {
            suite: self.suite.clone(),
            eval: eval.clone(),
            variant: arm.variant.clone(),
            prompt: prompt(self.suite, eval, environment, experiment),
            layers,
            actions,
            env: self.interpolator.variables(&variables),
            judge_env: self.interpolator.variables(own_variables),
            timeout: (self.overrides.timeout)
                .or(eval.timeout)
                .or(experiment.timeout.applied_to(&environment.timeout).copied())
                .unwrap_or(self.suite.timeout),
            limits: eval
                .limits
                .over(experiment.limits_over(environment, self.suite.limits))
                .into(),
            gateway,
            inject: inject.unwrap_or_default(),
            require_delivery: (experiment.require_delivery)
                .applied_to(&environment.require_delivery)
                .copied()
                .unwrap_or(self.suite.require_delivery),
        }
    }

    /// Returns the suite's directories, or the result of its `prepare` on them.
    fn suite_layers(&mut self) -> Vec<Layer> {
        let directories = self.suite.layers.iter().cloned();
        let below = directories.map(Layer::Directory).collect();
        self.prepared(below, &self.suite.prepare, &[&self.suite.env], None)
    }

    /// Adds the eval's own directory, and returns the result of its `prepare` on them.
    fn eval_layers(&mut self, eval: &Eval, base: &[Layer]) -> Vec<Layer> {
        let own = eval.layer.clone().map(Layer::Directory);
        let below = base.iter().cloned().chain(own).collect();
        let env = [&self.suite.env, &eval.env];
        self.prepared(below, &eval.prepare, &env, Some(&eval.name))
    }

    fn prepared(
        &mut self,
        below: Vec<Layer>,
        actions: &[Action<Template>],
        env: &[&Variables],
        eval: Option<&str>,
    ) -> Vec<Layer> {
        if actions.is_empty() {
            return below;
        }
        vec![Layer::Prepared(Arc::new(PreparedLayer {
            below,
            actions: self.interpolator.actions(actions),
            env: self.interpolator.variables(env),
            eval: eval.map(str::to_owned),
            pass_registries: self.suite.pass_registries,
        }))]
    }
}

/// Reports a missing agent at the set-up that is at fault: one environment without an agent is one problem, not one
/// for every experiment.
fn no_agent(environment: &Setup, experiment: &Setup) -> Diagnostic {
    let run_with = "or run with `--agent NAME`";
    match (&experiment.agent, experiment.place, environment.place) {
        (Patch::Remove, Some(place), _) => Diagnostic::error(
            Code::NoAgent,
            format!("the experiment `{}` leaves no agent", experiment.name),
        )
        .at(place, "`agent: null` removes it here")
        .help(format!("name another agent, {run_with}")),
        (_, _, Some(place)) => Diagnostic::error(
            Code::NoAgent,
            format!("the environment `{}` has no agent", environment.name),
        )
        .at(
            place,
            format!(
                "no `agent` here, nor in the experiment `{}`",
                experiment.name
            ),
        )
        .help(format!("add `agent: NAME` to the environment, {run_with}")),
        (_, _, None) => Diagnostic::error(Code::NoAgent, "the suite names no agent").help(format!(
            "add `environments: [{{name: default, agent: NAME}}]` to terca.yaml, {run_with}"
        )),
    }
}

fn mcp_servers(
    environment: &Setup,
    experiment: &Setup,
    interpolator: &mut Interpolator<'_>,
) -> Vec<(String, McpServer<String>)> {
    let mut merged: BTreeMap<&str, &McpServer<Template>> = BTreeMap::new();
    for setup in [environment, experiment] {
        match &setup.mcp_servers {
            Patch::Keep => {}
            Patch::Remove => merged.clear(),
            Patch::Set(servers) => {
                for (name, server) in servers {
                    match server {
                        Patch::Set(server) => merged.insert(name, server),
                        Patch::Keep | Patch::Remove => merged.remove(name.as_str()),
                    };
                }
            }
        }
    }
    merged
        .into_iter()
        .map(|(name, server)| (name.to_owned(), interpolator.server(server)))
        .collect()
}

/// Reports settings that the agent cannot take. To ignore them would spoil the experiment.
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

/// Returns the error about a delivery that nothing can prove.
fn no_proof(arm: &Arm<'_>) -> Diagnostic {
    let error = Diagnostic::error(
        Code::WrongValue,
        format!(
            "`requireDelivery` needs the gateway, which is `off` for the experiment `{}` in the environment `{}`",
            arm.experiment.name, arm.environment.name
        ),
    )
    .help("write `gateway: meter`, or leave `gateway` out; `requireDelivery: false` asks for no proof");
    let givers = [arm.experiment, arm.environment];
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

fn prompt(suite: &Suite, eval: &Eval, environment: &Setup, experiment: &Setup) -> String {
    let preamble = Levels {
        suite: suite.preamble.as_ref(),
        eval: &Patch::Keep,
        environment: &environment.preamble,
        experiment: &experiment.preamble,
    };
    let postamble = Levels {
        suite: suite.postamble.as_ref(),
        eval: &Patch::Keep,
        environment: &environment.postamble,
        experiment: &experiment.postamble,
    };
    let before = preamble.added_up().into_iter().flatten();
    let after = postamble.added_up().into_iter().rev().flatten();
    let parts = before.chain([&eval.prompt]).chain(after);
    let present: Vec<&str> = parts
        .map(|part| part.trim_end_matches('\n'))
        .filter(|part| !part.is_empty())
        .collect();
    present.join("\n\n")
}
