//! Expands a suite and a selection into a plan: environments × experiments × evals × repetitions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::AgentChoice;
use crate::agent::mcp::McpServer;
use crate::config::Patch;
use crate::config::adds_up::Levels;
use crate::config::gateway::GatewayMode;
use crate::config::interpolate::Interpolator;
use crate::config::sandbox::Sandbox;
use crate::config::setup::Containment;
use crate::config::suite::{Action, Eval, Setup, Suite, Template, Variables};
use crate::plan::arm::Arm;
use crate::plan::selection::{Selection, select};
use crate::plan::{Case, Layer, Plan, PreparedLayer, TrialSpec, Variant, trial_folder};
use crate::plan::{identical, judges};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::prose;
use crate::wire::network::Network;

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
    let repetitions_of = |eval: &&Arc<Eval>| {
        let own = overrides.repetitions.or(eval.repetitions);
        own.unwrap_or(suite.repetitions.most())
    };
    let repetitions: Vec<u32> = selected.evals.iter().map(repetitions_of).collect();
    let is_too_large = refuse_too_many(arms.len(), &repetitions, expansion.interpolator.problems);
    let suite_layers = expansion.suite_layers();
    let mut trials = Vec::new();
    let evals = selected.evals.iter().zip(&repetitions);
    for (eval, repetitions) in evals.filter(|_| !is_too_large) {
        let layers = expansion.eval_layers(eval, &suite_layers);
        for arm in &arms {
            judges::check(eval, &arm.variant, expansion.interpolator.problems);
            let case = expansion.case(eval, layers.clone(), arm);
            add_trials(&mut trials, &Arc::new(case), *repetitions);
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

/// Adds the trials of a case.
fn add_trials(trials: &mut Vec<TrialSpec>, case: &Arc<Case>, repetitions: u32) {
    let variant = &case.variant;
    for repetition in 1..=repetitions {
        trials.push(TrialSpec {
            id: trials.len() as u32 + 1,
            dir: trial_folder(
                &case.eval.name, &variant.environment, &variant.experiment, repetition,
            ),
            case: case.clone(),
            repetition,
        });
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
        arm.check(&self.suite.experiments, self.interpolator.problems);
        let gateway = self.gateway_mode(environment, experiment);
        let is_required = (experiment.require_delivery)
            .applied_to(&environment.require_delivery)
            .copied()
            .unwrap_or(self.suite.require_delivery);
        if is_required && gateway == Some(GatewayMode::Off) {
            self.interpolator.problems.push(arm.no_proof());
        }
        Some(arm)
    }

    /// Returns the part of the gateway that is asked for.
    fn gateway_mode(&self, environment: &Setup, experiment: &Setup) -> Option<GatewayMode> {
        (self.overrides.gateway)
            .or(experiment.gateway.applied_to(&environment.gateway).copied())
            .or(self.suite.gateway)
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
