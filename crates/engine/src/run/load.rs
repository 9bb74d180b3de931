//! Loads a suite and makes the plan of a run from it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use camino::Utf8Path;
use terca_core::agent;
use terca_core::agent::{AgentChoice, AgentRef};
use terca_core::analysis::validation;
use terca_core::config::Suite;
use terca_core::plan::aa_check;
use terca_core::plan::ablated;
use terca_core::plan::agent_named;
use terca_core::plan::expand::{Overrides, expand};
use terca_core::plan::fingerprint::{CaseFingerprint, Fingerprinter};
use terca_core::plan::lints::report_lints;
use terca_core::plan::order;
use terca_core::plan::shard::Shard;
use terca_core::plan::workers::{ChosenWorkers, chosen_workers};
use terca_core::plan::{Case, Plan, TrialSpec};
use terca_core::run::event::TrialHead;
use terca_core::run::limits::Limits;
use terca_core::run::settings::{FailedSettings, RunSettings, SelectionSettings};
use terca_core::run::state::RunState;
use terca_core::text::Code;
use terca_core::text::diagnostic::{Diagnostic, Diagnostics};
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::text::source::Sources;

use crate::host::credentials;
use crate::host::environment::Host;
use crate::host::registries;
use crate::run::replay;
use crate::suite::discover;
use crate::suite::discover::{DiscoverError, Extent, Machine};
use crate::workspace::tree_hash::TreeHashes;

/// The option that chooses the agent of every variant.
const AGENT_OPTION: &str = "--agent";

/// A suite, its plan, and the trials of it that a run has.
#[derive(Debug)]
pub struct RunPlan {
    /// The suite.
    pub suite: Suite,
    /// All of the plan, also where the run is a part of it.
    pub plan: Plan,
    /// The trials of the run, in the order of their ids.
    pub trials: Vec<TrialSpec>,
    /// The seed of their order.
    pub seed: u64,
    /// Positions in `trials`, in the order to start them.
    pub order: Vec<usize>,
    /// The machines that they are for.
    pub workers: ChosenWorkers,
    /// The names of the environment's variables that the suite uses.
    pub variables: BTreeSet<String>,
}

/// A suite that was loaded, with its problems.
#[derive(Debug)]
pub struct LoadedPlan {
    /// The plan; `None` where a problem is an error.
    pub plan: Option<RunPlan>,
    /// Everything that is wrong or suspicious, sorted.
    pub problems: Diagnostics,
    /// The files that the problems point into.
    pub sources: Sources,
}

/// Loads the suite in a directory and makes the plan that these settings ask for.
pub fn load(
    dir: &Utf8Path,
    settings: &RunSettings,
    host: &Host,
) -> Result<LoadedPlan, DiscoverError> {
    load_extent(dir, Extent::Whole, settings, host)
}

/// Makes the same plan from as much of a suite as is in a directory.
pub fn load_extent(
    dir: &Utf8Path,
    extent: Extent,
    settings: &RunSettings,
    host: &Host,
) -> Result<LoadedPlan, DiscoverError> {
    let used: RefCell<BTreeSet<String>> = RefCell::default();
    let variables = |name: &str| {
        used.borrow_mut().insert(name.to_owned());
        replay::variable(settings, host, name)
    };
    let loaded = discover::load_extent(dir, extent, &variables)?;
    let mut problems = loaded.problems;
    let overrides = overrides(&settings.selection, &mut problems);
    let plan = loaded
        .suite
        .map(|suite| make(suite, settings, &overrides, &variables, &mut problems));
    if let Some(plan) = plan.as_ref().filter(|_| extent == Extent::Whole) {
        let machine = Machine {
            extent,
            // These variables are not used by the plan.
            variable: &|name| host.get(name).map(str::to_owned),
        };
        report_lints(&plan.suite, &plan.plan, &machine, &mut problems);
    }
    let plan = plan.map(|plan| RunPlan {
        variables: used.into_inner(),
        ..plan
    });
    problems.sort();
    Ok(LoadedPlan {
        plan: plan.filter(|_| !problems.has_errors()),
        problems,
        sources: loaded.sources,
    })
}

fn make(
    mut suite: Suite,
    settings: &RunSettings,
    overrides: &Overrides,
    variables: &dyn Fn(&str) -> Option<String>,
    problems: &mut Diagnostics,
) -> RunPlan {
    let chosen = settings.selection.names();
    let mut plan = if settings.validate {
        let rest = validation::prepare(&mut suite, &chosen, problems);
        let plan = expand(&suite, &rest, overrides, variables, problems);
        validation::with_tricks(plan)
    } else {
        let mut rest = chosen;
        if settings.aa {
            rest = aa_check::prepare(&mut suite, &rest, problems);
        }
        if let Some(ablation) = &settings.ablation {
            rest = ablated::prepare(&mut suite, &rest, ablation, problems);
        }
        let agent = overrides.agent.as_ref();
        if let Some(agent) = agent.filter(|_| settings.selection.named_by_agent) {
            rest = agent_named::prepare(&mut suite, &rest, agent, problems);
        }
        expand(&suite, &rest, overrides, variables, problems)
    };
    if let Some(ablation) = &settings.ablation {
        ablated::keep_dealt(&mut plan, ablation);
    }
    if let Some(failed) = &settings.failed {
        plan.keep_cases(|eval, environment, experiment| {
            failed.cases.iter().any(|case| {
                (&*case.eval, &*case.environment, &*case.experiment)
                    == (eval, environment, experiment)
            })
        });
        if plan.trials.is_empty() && !problems.has_errors() {
            problems.push(none_of_the_failed(failed));
        }
    }
    let workers = chosen_workers(&suite, &settings.on, problems);
    if let Some(shard) = settings.shard.filter(|_| plan.adaptive.is_some()) {
        problems.push(no_parts(shard));
    }
    let seed = settings.selection.seed;
    let seed = seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let trials = match settings.shard {
        Some(shard) => shard.part(&plan.trials),
        None => plan.trials.clone(),
    };
    RunPlan {
        order: order::order(&trials, seed),
        suite,
        plan,
        trials,
        seed,
        workers,
        variables: BTreeSet::new(),
    }
}

fn none_of_the_failed(failed: &FailedSettings) -> Diagnostic {
    const SHOWN: usize = 5;
    let mut names: Vec<String> = (failed.cases.iter().take(SHOWN))
        .map(|case| {
            format!(
                "`{}` in {}.{}",
                case.eval, case.environment, case.experiment
            )
        })
        .collect();
    if failed.cases.len() > SHOWN {
        names.push(format!("{} more", failed.cases.len() - SHOWN));
    }
    Diagnostic::error(
        Code::NoMatch,
        format!("--failed: the selection has no failure of {}", failed.run),
    )
    .help(format!("the failures are {}", prose::list(&names, "and")))
    .help("select one of them, and use the same `--agent` as that run")
}

/// Nobody knows beforehand how many trials there will be, and each look needs all of them.
fn no_parts(shard: Shard) -> Diagnostic {
    Diagnostic::error(
        Code::NotInParts,
        format!("--shard {shard}: adaptive repetitions cannot be split into shards"),
    )
    .help("give a number of repetitions with `-n`, or run the whole suite on one machine")
}

fn overrides(selection: &SelectionSettings, problems: &mut Diagnostics) -> Overrides {
    if selection.model.as_deref().is_some_and(str::is_empty) {
        problems.push(
            Diagnostic::error(Code::Usage, "--model: the name is empty")
                .help("omit the option to use the models of the suite"),
        );
    }
    let agent = selection.agent.as_deref();
    let agent = agent.and_then(|name| match named_agent(AGENT_OPTION, name) {
        Ok(agent) => Some(AgentChoice::of(agent)),
        Err(problem) => {
            problems.push(problem);
            None
        }
    });
    Overrides {
        agent,
        model: selection.model.clone(),
        repetitions: selection.repetitions,
        timeout: selection.timeout.map(Duration::from_secs_f64),
        sandbox: selection.sandbox.clone(),
        network: selection.network.clone(),
        gateway: selection.gateway,
    }
}

/// Returns the agent that an option of the command line names.
pub fn named_agent(option: &str, name: &str) -> Result<AgentRef, Diagnostic> {
    let needs_command =
        |name: &str| agent::find(name).is_some_and(|agent| agent.profile().takes_command);
    let mut diagnostic = match agent::find(name) {
        Some(_) if needs_command(name) => {
            let message = "this agent needs a command, which only terca.yaml can give";
            Diagnostic::error(Code::Usage, format!("{option} {name}: {message}"))
        }
        Some(agent) => return Ok(agent),
        None => Diagnostic::error(
            Code::UnknownAgent,
            format!("{option} {name}: no such agent"),
        ),
    };
    // Other options have no terca.yaml.
    if needs_command(name) && option == AGENT_OPTION {
        diagnostic = diagnostic.help(format!(
            "write it into terca.yaml: `agent: {{name: {name}, command: ./my-agent}}`"
        ));
    }
    let mut names = agent::names();
    names.retain(|name| !needs_command(name));
    let names = prose::quoted_list(&names, "and");
    let meant = agent::probably(name).filter(|meant| !needs_command(meant));
    Err(diagnostic
        .help(format!("the agents are {names}"))
        .maybe_help(meant.map(|meant| format!("did you mean `{meant}`?"))))
}

impl RunPlan {
    /// Returns the heads of the run's trials.
    pub fn heads(&self) -> Vec<TrialHead> {
        self.trials.iter().map(TrialHead::of).collect()
    }

    /// Takes fingerprints of the cases, from the suite's files as they are now.
    pub fn current_fingerprints(&self, mask: &Mask) -> Vec<CaseFingerprint> {
        let hashes = TreeHashes::default();
        let fingerprinter = Fingerprinter {
            suite_dir: &self.suite.root,
            root: None,
            mask,
            content: &|path| hashes.get(path),
            script: &|path| hashes.file(path),
        };
        fingerprinter.plan(&self.plan)
    }

    /// Returns the secrets that must not be written down: the values of `${NAME}`, what the agents sign in with,
    /// and keys
    /// that are written in their `config`.
    pub fn mask(&self, host: &Host) -> Mask {
        let mut secrets: BTreeSet<String> = self.plan.secrets.iter().cloned().collect();
        for agent in self.plan.agents() {
            secrets.extend(credentials::secrets(host, agent.profile()));
        }
        if self.suite.pass_registries {
            secrets.extend(registries::secrets(host));
        }
        let configs = self.plan.cases().flat_map(Case::configs);
        secrets.extend(configs.flat_map(agent::secrets_in_config));
        Mask::new(secrets)
    }

    /// Returns the names of the registries' variables and files that this machine has and the plan's commands may need.
    pub fn registries(&self, host: &Host) -> Vec<String> {
        let mut names = registries::names(host);
        let is_needed = |name: &String| {
            let mut commands = self.trials.iter().flat_map(|trial| trial.case.commands());
            commands.any(|command| registries::may_be_needed_by(command.line, name))
        };
        names.retain(|name| self.suite.pass_registries || is_needed(name));
        names
    }

    /// Returns the variables of this machine that the suite and its agents use, for workers on others.
    pub(crate) fn variables_for_workers(&self, host: &Host) -> BTreeMap<String, String> {
        let agents = self.plan.agents();
        let of_agents = agents.iter().flat_map(|agent| {
            let profile = agent.profile();
            let names = profile.credential_variables.iter();
            names.chain(profile.setting_variables).copied()
        });
        let named = self.variables.iter().map(String::as_str);
        let mut variables: BTreeMap<String, String> = named
            .chain(of_agents)
            .filter_map(|name| Some((name.to_owned(), host.get(name)?.to_owned())))
            .collect();
        if self.suite.pass_registries {
            variables.extend(registries::variables(host));
        }
        variables
    }

    /// Returns the slots of this machine, where there are others beside it.
    pub(crate) fn local_slots(&self) -> usize {
        match self.suite.local_slots {
            _ if !self.workers.is_local || self.workers.pools.is_empty() => 0,
            Some(slots) => slots as usize,
            None => available_slots(),
        }
    }

    /// Returns how many trials may be in flight for each agent. On workers, there are as many as they have slots, unless
    /// somebody says otherwise.
    pub(super) fn limits(&self, concurrency: Option<u32>) -> Limits {
        if let Some(number) = concurrency {
            return Limits::overall(number as usize);
        }
        let pools = self.workers.pools.iter();
        let remote = pools.map(|pool| pool.places().len() * pool.slots as usize);
        let concurrency = &self.suite.concurrency;
        Limits {
            ceiling: usize::MAX,
            others: match concurrency.others {
                Some(number) => number as usize,
                None if self.workers.pools.is_empty() => available_slots(),
                None => remote.sum::<usize>() + self.local_slots(),
            },
            agents: concurrency
                .agents
                .iter()
                .map(|(agent, number)| (agent.clone(), *number as usize))
                .collect(),
        }
    }

    /// Returns how many trials can be in flight in all.
    pub fn at_once(&self, concurrency: Option<u32>) -> usize {
        self.total(&self.limits(concurrency))
    }

    /// Returns how many of the run's trials these limits allow in all.
    pub(super) fn total(&self, limits: &Limits) -> usize {
        let agents = self
            .trials
            .iter()
            .map(|trial| trial.case.variant.agent.agent.profile().name);
        limits.total(agents)
    }

    /// Gives the trials the ids and directories that they have in an earlier run, and leaves out those that the run
    /// does not have.
    pub fn adopt(&mut self, state: &RunState) {
        // Trials of rounds that an adaptive run has not begun are known too.
        let heads = state
            .trials()
            .iter()
            .map(|trial| &*trial.head)
            .chain(state.spare());
        let known: HashMap<_, &TrialHead> = heads.map(|head| (trial_name(head), head)).collect();
        let adopted = self.order.iter().filter_map(|index| {
            let trial = &self.trials[*index];
            let known = known.get(&trial_name(&TrialHead::of(trial)))?;
            Some(TrialSpec {
                id: known.id,
                dir: known.dir.clone(),
                ..trial.clone()
            })
        });
        let mut trials: Vec<TrialSpec> = adopted.collect();
        let order: Vec<u32> = trials.iter().map(|trial| trial.id).collect();
        trials.sort_by_key(|trial| trial.id);
        self.order = order
            .iter()
            .filter_map(|id| trials.binary_search_by_key(id, |trial| trial.id).ok())
            .collect();
        self.trials = trials;
    }
}

fn available_slots() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The names by which a trial is known in every run of a suite, on all machines: eval, environment, experiment,
/// repetition.
pub(crate) type TrialName = (String, String, String, u32);

/// Returns the names of a trial.
pub(crate) fn trial_name(head: &TrialHead) -> TrialName {
    (
        head.eval.clone(),
        head.environment.clone(),
        head.experiment.clone(),
        head.repetition,
    )
}
