//! Expands a suite and a selection into a plan: environments × experiments × evals × repetitions.

use std::sync::Arc;

use crate::config::Patch;
use crate::config::sandbox::Sandbox;
use crate::config::suite::{Action, Eval, Setup, Suite, Template, Variables};
use crate::plan::arm::Arm;
use crate::plan::interpolate::Interpolator;
use crate::plan::selection::{Selection, select};
pub use crate::plan::setups::Overrides;
use crate::plan::setups::{Setups, UnusedSettings};
use crate::plan::{Case, Layer, Plan, PreparedLayer, TrialSpec, Variant, trial_folder};
use crate::plan::{identical, judges};
use crate::text::{Code, Diagnostic, Diagnostics, Place, prose};
use crate::wire::network::Network;

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
            arms.extend(expansion.arm(Setups {
                environment,
                experiment,
            }));
        }
    }
    let repetitions_of = |eval: &&Arc<Eval>| {
        let own = overrides.repetitions.or(eval.repetitions);
        own.unwrap_or(suite.repetitions.most())
    };
    let repetitions: Vec<u32> = selected.evals.iter().map(repetitions_of).collect();
    let many = match overrides.repetitions {
        None => suite.place_of(&["repetitions"]),
        Some(_) => None,
    };
    let count = arms.len();
    let is_too_large = refuse_too_many(count, &repetitions, many, expansion.interpolator.problems);
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
fn refuse_too_many(
    variants: usize,
    repetitions: &[u32],
    place: Option<Place>,
    problems: &mut Diagnostics,
) -> bool {
    let of_all_evals: u64 = repetitions.iter().copied().map(u64::from).sum();
    let trials = of_all_evals.saturating_mul(variants as u64);
    if trials <= MOST_TRIALS {
        return false;
    }
    let evals = prose::count(repetitions.len(), "eval");
    let variants = prose::count(variants, "variant");
    problems.push(
        Diagnostic::error(
            Code::OutOfRange,
            format!(
                "{evals} × {variants} with their repetitions are {trials} trials, and a run has at most {MOST_TRIALS}"
            ),
        )
        .maybe_at(place, "so many repetitions")
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
    fn arm<'s>(&mut self, setups: Setups<'s>) -> Option<Arm<'s>> {
        let Setups {
            environment,
            experiment,
        } = setups;
        let asked = self.overrides.agent.as_ref().map(|asked| {
            // A set-up that names this agent may name a program of its own for it.
            let named = [experiment.agent.set(), environment.agent.set()];
            let mut named = named.into_iter().flatten();
            named
                .find(|named| named.agent == asked.agent)
                .unwrap_or(asked)
        });
        let Some(agent) = asked.or(setups.value(|setup| &setup.agent)) else {
            let problem = no_agent(environment, experiment, self.suite);
            self.interpolator.problems.push(problem);
            return None;
        };
        let mut setup = setups.applied(
            agent.agent, self.suite, self.overrides, &mut self.interpolator,
        );
        let is_open = |network: &Network| *network == Network::Open;
        if !setup.network.as_ref().is_none_or(is_open) {
            // Only a sandbox can make it, so it is no longer a matter of what the machine can do.
            setup.sandbox.get_or_insert(Sandbox::Auto);
        }
        let unused = setups.unused(agent.agent, self.overrides);
        let names_agent = (experiment.agent.set()).is_some_and(|named| named.agent == agent.agent);
        if names_agent {
            let warnings = unused
                .iter()
                .filter_map(|unused| unused.warning(experiment));
            warnings.for_each(|warning| self.interpolator.problems.push(warning));
        }
        let told = |setup: &Setup| setup.real_name.as_ref().unwrap_or(&setup.name).clone();
        let variant = Variant {
            environment: environment.name.clone(),
            experiment: experiment.name.clone(),
            told_experiment: told(experiment),
            told_environment: told(environment),
            agent: agent.clone(),
            mcp_servers: setups.mcp_servers(&mut self.interpolator),
            setup,
            unused: unused.iter().map(UnusedSettings::sentence).collect(),
        };
        let gateway = self.overrides.gateway;
        let arm = Arm {
            variant: Arc::new(variant),
            setups,
            gateway: gateway
                .or(setups.value(|setup| &setup.gateway).copied())
                .or(self.suite.gateway.mode),
            require_delivery: *(setups.value(|setup| &setup.require_delivery))
                .unwrap_or(&self.suite.require_delivery),
        };
        arm.check(self.suite, self.interpolator.problems);
        Some(arm)
    }

    /// Returns a variant for an eval, which may have a container of its own.
    fn variant(&self, eval: &Eval, arm: &Arm<'_>) -> Arc<Variant> {
        let Some(own) = eval
            .sandbox
            .as_ref()
            .filter(|_| self.overrides.sandbox.is_none())
        else {
            return arm.variant.clone();
        };
        let mut variant = (*arm.variant).clone();
        variant.setup.sandbox = Some(own.clone());
        Arc::new(variant)
    }

    /// Makes the case of an eval in a variant.
    fn case(&mut self, eval: &Arc<Eval>, layers: Vec<Layer>, arm: &Arm<'_>) -> Case {
        let setups = arm.setups;
        let of_setups = setups.added_up(None, None, |setup| &setup.env);
        let variables = [&self.suite.env].into_iter().chain(of_setups);
        let has_judge = judges::judges_of(eval).next().is_some();
        let before = setups.added_up(Some(&self.suite.before), Some(&eval.before), |setup| {
            &setup.before
        });
        Case {
            suite: self.suite.clone(),
            eval: eval.clone(),
            variant: self.variant(eval, arm),
            prompt: prompt(self.suite, eval, setups),
            layers,
            actions: before
                .flat_map(|actions| self.interpolator.actions(actions))
                .collect(),
            services: setups.services(self.suite, eval, &mut self.interpolator),
            env: self.interpolator.variables(variables.chain([&eval.env])),
            judge_env: (self.interpolator).variables(has_judge.then_some(&self.suite.env)),
            timeout: (self.overrides.timeout)
                .or(eval.timeout)
                .or(setups.value(|setup| &setup.timeout).copied())
                .unwrap_or(self.suite.timeout),
            limits: setups.limits(self.suite, eval).into(),
            gateway: arm.gateway,
            require_delivery: arm.require_delivery,
        }
    }

    /// Returns the suite's directories, or the result of its `prepare` on them.
    fn suite_layers(&mut self) -> Vec<Layer> {
        let directories = self.suite.layers.iter().cloned();
        let below = directories.map(Layer::Directory).collect();
        self.prepared(below, &self.suite.prepare, vec![&self.suite.env], None)
    }

    /// Adds the eval's own directory, and returns the result of its `prepare` on them.
    fn eval_layers(&mut self, eval: &Eval, base: &[Layer]) -> Vec<Layer> {
        let own = eval.layer.clone().map(Layer::Directory);
        let below = base.iter().cloned().chain(own).collect();
        let env = vec![&self.suite.env, &eval.env];
        self.prepared(below, &eval.prepare, env, Some(&eval.name))
    }

    /// Adds the results of actions to layers. A command with `onlyFiles` has a layer of its own, above those below it.
    fn prepared(
        &mut self,
        mut layers: Vec<Layer>,
        actions: &[Action<Template>],
        env: Vec<&Variables>,
        eval: Option<&str>,
    ) -> Vec<Layer> {
        let env = self.interpolator.variables(env);
        let only_files = |action: &Action<Template>| match action {
            Action::Run(command) => command.only_files.clone(),
            _ => Vec::new(),
        };
        let is_one_layer = |one: &Action<Template>, next: &Action<Template>| {
            only_files(one).is_empty() && only_files(next).is_empty()
        };
        for step in actions.chunk_by(is_one_layer) {
            let only_files = only_files(&step[0]);
            let is_shared = !only_files.is_empty();
            let mut actions = self.interpolator.actions(step);
            if let (true, [Action::Run(command)]) = (is_shared, actions.as_mut_slice()) {
                // Evals share it, and each has a directory of its own.
                command.dir.clone_from(&self.suite.root);
            }
            let layer = Layer::Prepared(Arc::new(PreparedLayer {
                below: layers.clone(),
                actions,
                env: env.clone(),
                only_files,
                eval: eval.filter(|_| !is_shared).map(str::to_owned),
                pass_registries: self.suite.pass_registries,
            }));
            match is_shared {
                true => layers.push(layer),
                false => layers = vec![layer],
            }
        }
        layers
    }
}

/// Reports a missing agent at the set-up that is at fault: one environment without an agent is one problem, not one
/// for every experiment.
fn no_agent(environment: &Setup, experiment: &Setup, suite: &Suite) -> Diagnostic {
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
        (_, _, None) => {
            let error = Diagnostic::error(Code::NoAgent, "the suite names no agent");
            let label = match (suite.keys.is_empty(), suite.place) {
                (true, Some(_)) => "this file is empty",
                _ => "no `environments` here",
            };
            let error = match suite.place_of(&["experiments"]) {
                Some(place) => error.at(place, label),
                None => error.in_file("terca.yaml"),
            };
            error.help(format!(
                "add `environments: [{{name: default, agent: NAME}}]` to terca.yaml, {run_with}"
            ))
        }
    }
}

fn prompt(suite: &Suite, eval: &Eval, setups: Setups<'_>) -> String {
    let before = setups.added_up(suite.preamble.as_ref(), None, |setup| &setup.preamble);
    let after = setups.added_up(suite.postamble.as_ref(), None, |setup| &setup.postamble);
    let parts = before.chain([&eval.prompt]).chain(after.rev());
    prose::joined(
        parts
            .map(|part| part.trim_end_matches('\n'))
            .filter(|part| !part.is_empty()),
        "\n\n",
    )
}
