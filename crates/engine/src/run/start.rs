//! Starts a run: from a plan and its settings to a finished run on disk.
//!
//! ```text
//! settings ─load─► RunPlan ─► PreparedRun ─create_dir─► Store ─execute─► FinishedRun
//! ```

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use terca_core::agent::LATEST;
use terca_core::agent::access::Access;
use terca_core::config::sandbox::{ContainedBy, Sandbox};
use terca_core::plan::descriptions::Descriptions;
use terca_core::plan::fingerprint::{CaseFingerprint, differences};
use terca_core::plan::{Case, Variant};
use terca_core::run::event::RunStart;
use terca_core::run::limits::Limits;
use terca_core::run::observer::Observer;
use terca_core::run::run_file::{CaseSandbox, RunFile, SettledSandboxes};
use terca_core::run::settings::RunSettings;
use thiserror::Error;

use crate::VERSION;
use crate::host::agent_store::{AgentStore, InstallError};
use crate::host::credentials;
use crate::host::environment::Host;
use crate::mcp_tap::KeptProgram;
use crate::process::interrupt::Interrupt;
use crate::process::open_file_limit;
use crate::process::supervise::{Launcher, SupervisorPool};
use crate::run::load::RunPlan;
use crate::run::past_runs::{self, PastRun, RunsError};
use crate::run::scheduler::{self, FinishedRun, RunRequest};
use crate::run::signals::{self, Stopper};
use crate::run::slots::Slots;
use crate::run::store::{Store, StoreError};
use crate::run::trial_thread::Mailbox;
use crate::sandbox::limits::LimitKeeper;
use crate::sandbox::{Builds, SandboxError, Sandboxes};
use crate::suite::commit::commit_of;
use crate::trial::{Context, Preflights, ReplaySource, RunGateway, RunServices, Versions};
use crate::workspace::base_layers::BaseLayers;
use crate::workspace::layers::LayerCache;
use crate::workspace::overlays::{self, Overlays, Wish};
use crate::workspace::sealed_suite::SealedSuite;
use crate::workspace::suite_inputs::Inputs;
use crate::workspace::trial_dirs::WorkDir;

/// A run that could not be started, or that could not go on.
#[derive(Debug, Error)]
pub enum StartError {
    /// Trials have nowhere to work.
    #[error(transparent)]
    NoWorkDir(io::Error),
    /// A variable of the environment has a value that it cannot have.
    #[error("{0}")]
    Variable(String),
    /// The suite's files cannot be copied for the run.
    #[error("the suite's files could not be copied: {0}")]
    NoCopyOfSuite(io::Error),
    /// The sandbox that the suite asks for cannot be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A sandbox that an earlier run was started with cannot be made.
    #[error("the sandbox that the run was started with does not work here: {0}")]
    SandboxOfRun(#[source] SandboxError),
    /// An agent of the suite cannot be installed.
    #[error(transparent)]
    Agent(#[from] InstallError),
    /// Signals cannot be received.
    #[error(transparent)]
    Signals(io::Error),
    /// The run that is to be replayed cannot be found.
    #[error(transparent)]
    Replay(#[from] RunsError),
    /// `run.json` cannot be made from the plan.
    #[error("the plan cannot be saved: {0}")]
    RunFile(serde_json::Error),
    /// The run's directory cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The ways in which a run differs from a new one on this machine.
#[derive(Debug, Default)]
pub struct StartOptions<'a> {
    /// Makes the layers of `prepare` again, although they are in the cache.
    pub rebuild_layers: bool,
    /// On a worker: the directory below which the suite's files are at the paths of the coordinator.
    pub files_below: Option<&'a Utf8Path>,
    /// Workspaces are kept as a whole, since the machine that they are for has no layers to compare with.
    pub keeps_whole: bool,
    /// The sandboxes that the run was started with, where it goes on.
    pub settled: SettledSandboxes,
    /// Tells the user what takes long before the first trial.
    pub tell: Option<fn(&str)>,
    /// On a worker: the directory of the agents that Terca installs, where that of the suite does not last.
    pub agents_dir: Option<Utf8PathBuf>,
}

/// How the agents of a run are contained.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Containment {
    /// The sandbox of each case.
    pub sandboxes: Vec<CaseSandbox>,
    /// The networks of contained agents, in words; several where variants differ.
    pub networks: BTreeSet<String>,
    /// The reason why agents have no sandbox, although nobody wanted that.
    pub not_contained: Option<String>,
}

/// Fewer trials at once than were asked for, because of the limit of open files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduced {
    /// The number that was asked for.
    pub wanted: usize,
    /// The number that there is room for.
    pub possible: usize,
}

/// Everything that is needed to run trials, before there is a directory for them.
#[derive(Debug)]
pub struct PreparedRun<'a> {
    pub(crate) plan: &'a RunPlan,
    pub(crate) settings: &'a RunSettings,
    pub(crate) options: StartOptions<'a>,
    /// Everything that its trials share. It gets the run's directory when there is one.
    pub context: Context,
    limits: Limits,
    /// Fewer trials run at once than were asked for.
    pub reduced: Option<Reduced>,
    /// The hashes of what the cases are made from.
    pub fingerprints: Vec<CaseFingerprint>,
    /// The hand that stops the run as Ctrl+C does.
    pub stopper: Stopper,
    pub(crate) mailbox: Mailbox,
    slots: Slots,
    /// How agents are contained elsewhere, if no trial runs on this machine.
    elsewhere: Option<Containment>,
}

impl<'a> PreparedRun<'a> {
    /// Makes a work directory, takes fingerprints, and settles how many trials run at once. From here on signals stop the
    /// run instead of ending the program: who sees the run's directory can interrupt it.
    pub fn new(
        plan: &'a RunPlan,
        settings: &'a RunSettings,
        options: StartOptions<'a>,
        host: Host,
    ) -> Result<Self, StartError> {
        let context = context(plan, settings, &options, host)?;
        let fingerprints =
            (context.sealed).fingerprint(&context.mask, options.files_below, |all| {
                all.plan(&plan.plan)
            });
        let mut limits = plan.limits(settings.concurrency);
        let reduced = reduced(plan, &limits);
        if let Some(Reduced { possible, .. }) = reduced {
            limits.ceiling = possible;
        }
        let mailbox = channel();
        let stopper =
            signals::forward(&mailbox.0, &context.interrupt).map_err(StartError::Signals)?;
        Ok(PreparedRun {
            plan,
            settings,
            options,
            limits,
            reduced,
            fingerprints,
            stopper,
            slots: Slots::local(mailbox.0.clone()),
            mailbox,
            context,
            elsewhere: None,
        })
    }

    /// Returns the names of the pools whose machines it runs on.
    pub fn pools(&self) -> Vec<String> {
        let pools = self.plan.workers.pools.iter();
        pools.map(|pool| pool.name.clone()).collect()
    }

    /// Uses slots of other machines. `elsewhere` says how they contain agents, if this machine runs no trial.
    pub(crate) fn use_slots(&mut self, slots: Slots, elsewhere: Option<Containment>) {
        (self.slots, self.elsewhere) = (slots, elsewhere);
    }

    /// Installs the agents for whose trials the suite asks for a version. Where trials run on other machines alone, these install
    /// them, and only the latest versions are settled here.
    pub fn install_agents(&self) -> Result<(), StartError> {
        let means = self.context.means(self.options.tell);
        for index in &self.plan.order {
            let case = &self.plan.trials[*index].case;
            let judges = case.judges().map(|(_, asked)| case.judge(asked));
            for choice in judges.chain([&case.variant.agent]) {
                let sandbox = case.variant.sandbox.as_ref();
                match self.context.sandboxes.image(sandbox) {
                    None if self.plan.workers.is_local => {
                        self.context.agents.get(choice, means)?;
                    }
                    _ => {
                        self.context.agents.version_of(choice, means)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the settings of the run, with the versions that `latest` means in it.
    pub(crate) fn settled(&self) -> RunSettings {
        RunSettings {
            latest_agents: self.context.agents.latest(),
            ..self.settings.clone()
        }
    }

    /// Returns how agents are contained.
    pub fn containment(&self) -> Containment {
        if let Some(elsewhere) = &self.elsewhere {
            return elsewhere.clone();
        }
        let sandboxes = &self.context.sandboxes;
        let has_agents = self.agents().next().is_some();
        let impossible = sandboxes.impossible.as_ref().filter(|_| has_agents);
        let mut containment = Containment {
            sandboxes: Vec::new(),
            networks: BTreeSet::new(),
            not_contained: impossible.map(ToString::to_string),
        };
        let packages = self.plan.plan.package_hosts();
        for case in self.plan.plan.cases() {
            let variant = &case.variant;
            let asked = variant.sandbox.as_ref();
            let contained_by = sandboxes.contained_by(asked);
            if contained_by != ContainedBy::None && !is_played(variant) {
                let network = variant.network_in(contained_by);
                let words = network.words(&variant.hosts_beside(&network, &packages));
                containment.networks.insert(words);
            }
            containment.sandboxes.push(CaseSandbox {
                contained_by,
                image: sandboxes.image(asked).cloned(),
            });
        }
        containment
    }

    /// Returns what agents are contained by; several where variants differ, nothing where Terca plays all agents
    /// itself.
    pub fn contained_by(&self) -> BTreeSet<ContainedBy> {
        let cases = self.plan.plan.cases().zip(self.containment().sandboxes);
        let agents = cases.filter(|(case, _)| !is_played(&case.variant));
        agents.map(|(_, sandbox)| sandbox.contained_by).collect()
    }

    /// Returns whether commands of the suite build a workspace.
    pub fn has_setup_commands(&self) -> bool {
        let cases = self.plan.plan.cases();
        let mut commands = cases.flat_map(Case::commands);
        commands.any(|command| !command.is_of_test)
    }

    /// Returns the sandbox of agents for which none is asked, where the run keeps it and a new run has another.
    pub fn kept_sandbox(&self) -> Option<&Sandbox> {
        self.agents().find(|variant| variant.sandbox.is_none())?;
        self.context.sandboxes.kept.as_ref()
    }

    /// Returns the variants of its trials, without those of agents that Terca plays itself.
    fn agents(&self) -> impl Iterator<Item = &Variant> {
        let variants = self.plan.trials.iter().map(|trial| &*trial.case.variant);
        variants.filter(|variant| !is_played(variant))
    }

    /// Returns the ids of its trials, and the time limits of their agents in seconds.
    pub fn time_limits(&self) -> impl Iterator<Item = (u32, f64)> {
        let trials = self.plan.trials.iter();
        trials.map(|trial| (trial.id, trial.case.timeout.as_secs_f64()))
    }

    /// Returns how many trials have a recording in the run that is replayed, or `None` if none is.
    pub fn recorded_trials(&self) -> Option<usize> {
        let source = self.context.replay.as_ref()?;
        let trials = self.plan.trials.iter();
        Some(
            trials
                .filter(|trial| source.has_recording(&trial.dir))
                .count(),
        )
    }

    /// Returns how many trials can be in flight; at least one.
    pub(crate) fn at_once(&self) -> usize {
        self.plan.total(&self.limits).max(1)
    }

    /// Makes the directory of a new run.
    pub fn create_dir(&self) -> Result<Store, StartError> {
        let run_file = self.run_file().map_err(StartError::RunFile)?;
        let today = jiff::Zoned::now().date();
        Ok(Store::create(&self.plan.suite.root, today, &run_file)?)
    }

    fn run_file(&self) -> serde_json::Result<RunFile> {
        let plan = self.plan;
        let host = &self.context.host;
        let settings = self.settled();
        let mut file = RunFile::new(&plan.suite, &plan.plan, &settings, VERSION);
        let cases = plan.plan.cases().zip(self.containment().sandboxes);
        for (described, (case, sandbox)) in file.cases.iter_mut().zip(cases) {
            let variant = &mut described.variant;
            let profile = variant.agent.agent.profile();
            let latest = settings.latest_agents.get(profile.name);
            if let (Some(latest), Some(LATEST)) = (latest, variant.agent.version.as_deref()) {
                variant.planned.agent.version = Some(latest.clone());
            }
            let env = credentials::own_variables(host, profile, variant.config.as_ref(), &case.env);
            let access = credentials::access(host, profile, &env, variant.config.as_ref());
            variant.access = Some(access).filter(|access| *access != Access::default());
            variant.contained_by = Some(sandbox.contained_by);
            variant.image = sandbox.image;
        }
        let order = plan.order.iter().map(|index| plan.trials[*index].id);
        file.order = order.collect();
        file.seed = plan.seed;
        file.concurrency = self.limits.others;
        file.fingerprints.clone_from(&self.fingerprints);
        file.suite_commit = commit_of(&plan.suite.root);
        file.created_at = jiff::Timestamp::now();
        file.masked(&self.context.mask)
    }

    /// Runs the trials to their end. `past` is what has happened already, in a run that is resumed.
    pub fn execute(
        self,
        store: Store,
        past: Option<PastRun>,
        observer: &mut dyn Observer,
    ) -> Result<FinishedRun, StartError> {
        let (plan, settings) = (self.plan, self.settings);
        let request = RunRequest {
            start: RunStart {
                run: store.name.clone(),
                suite: plan.suite.name.clone(),
                terca_version: VERSION.to_owned(),
                seed: plan.seed,
                concurrency: self.at_once(),
                baseline: plan.suite.baseline.clone(),
                verdict: plan.suite.verdict.with_margin(settings.margin),
                adaptive: plan.plan.adaptive,
                identical_to_baseline: plan.plan.identical_to_baseline.clone(),
                descriptions: Descriptions::of(&plan.suite, &plan.trials),
                replay_of: (settings.replay.as_ref()).map(|replay| replay.run.clone()),
                failed_in: (settings.failed.as_ref()).map(|failed| failed.run.clone()),
                ablation: settings.ablation.clone().map(Arc::new),
                trials: plan.heads(),
            },
            limits: self.limits.clone(),
            fail_fast: settings.fail_fast,
            retries: settings.retries.unwrap_or(plan.suite.retries),
            budget_usd: settings.budget_usd,
            trials: plan.trials.clone(),
            order: plan.order.clone(),
            past,
        };
        let fingerprints = self.fingerprints.clone();
        let (context, slots, (_, receiver)) = self.into_context(&store.dir);
        let mut finished = scheduler::run(&request, &context, store, &receiver, slots, observer)?;
        let not_removed = &mut finished.not_removed;
        context.services.end();
        not_removed.extend(context.supervisors.take_remains());
        not_removed.extend(context.work.remove());
        finished.suite_changes =
            differences(&fingerprints, &plan.current_fingerprints(&context.mask));
        Ok(finished)
    }

    /// Returns what all trials of the run in this directory share.
    pub fn into_context(mut self, run_dir: &Utf8Path) -> (Arc<Context>, Slots, Mailbox) {
        run_dir.clone_into(&mut self.context.run_dir);
        (Arc::new(self.context), self.slots, self.mailbox)
    }
}

/// Makes what all trials of a plan share. There is no directory of the run yet.
fn context(
    plan: &RunPlan,
    settings: &RunSettings,
    options: &StartOptions<'_>,
    host: Host,
) -> Result<Context, StartError> {
    let suite_dir = plan.suite.root.clone();
    let is_local = plan.workers.is_local;
    let launcher = Launcher::of_this_program();
    let work = WorkDir::create(host.get("TERCA_WORK_DIR")).map_err(StartError::NoWorkDir)?;
    let wish = Wish::read(host.get(overlays::VARIABLE)).map_err(StartError::Variable)?;
    let base_layers = Arc::new(BaseLayers::of_suite(&suite_dir));
    let (sealed, programs) = seal(plan, &work, &base_layers).map_err(StartError::NoCopyOfSuite)?;
    let sandboxes = if is_local {
        let copies = [Some(&sealed), programs.as_ref()];
        sandboxes(plan, options, &host, &work, &sealed, copies)?
    } else {
        Sandboxes::default()
    };
    // The engine of a container keeps those of its own.
    let cases = plan.plan.cases().filter(|_| is_local);
    let outside = cases.filter(|case| sandboxes.image(case.variant.sandbox.as_ref()).is_none());
    let limits = LimitKeeper::set_up(outside.map(|case| case.limits), &work);
    let run_dir = Utf8PathBuf::new();
    let replay = settings.replay.as_ref().map(|replay| {
        past_runs::find(&suite_dir, Some(&replay.run)).map(|dir| ReplaySource {
            run: replay.run.clone(),
            dir,
            on_miss: replay.on_miss,
        })
    });
    let latest = settings.latest_agents.clone();
    Ok(Context {
        agents: match &options.agents_dir {
            Some(dir) => AgentStore::in_dir(dir.clone(), latest),
            None => AgentStore::of_suite(&suite_dir, latest),
        },
        mask: plan.mask(&host),
        replay: replay.transpose()?,
        limits: limits.map_err(StartError::NoWorkDir)?,
        interrupt: Arc::new(Interrupt::new().map_err(StartError::Signals)?),
        layers: LayerCache::new(&suite_dir, base_layers.clone(), options.rebuild_layers),
        base_layers,
        merged_layers: Default::default(),
        checked_layers: Default::default(),
        keeps_whole: options.keeps_whole,
        run_dir,
        suite_dir,
        overlays: Overlays::new(
            match is_local {
                true => wish,
                false => Wish::Copy,
            },
            launcher.clone(),
        ),
        work,
        host,
        keep: settings.keep,
        offline_tests: settings.offline_tests,
        versions: Versions::new(launcher.clone()),
        preflights: Preflights::default(),
        services: RunServices::default(),
        gateway: RunGateway::default(),
        tap_program: KeptProgram::default(),
        supervisors: SupervisorPool::new(launcher),
        sandboxes,
        package_hosts: plan.plan.package_hosts(),
        sealed,
        programs,
    })
}

/// Seals the files of the suite, and apart from them the programs of its agents.
fn seal(
    plan: &RunPlan,
    work: &WorkDir,
    base_layers: &BaseLayers,
) -> io::Result<(SealedSuite, Option<SealedSuite>)> {
    let suite_dir = &plan.suite.root;
    let inputs = Inputs::of(&plan.plan, suite_dir);
    let sealed = SealedSuite::create(work.new_dir()?, suite_dir, &inputs, base_layers)?;
    let programs = SealedSuite::of_programs(|| work.new_dir(), suite_dir, &inputs)?;
    Ok((sealed, programs))
}

/// Returns whether Terca plays the agent of a variant itself.
fn is_played(variant: &Variant) -> bool {
    variant.agent.agent.profile().is_built_in()
}

/// Settles how the sandboxes of a plan are made.
fn sandboxes(
    plan: &RunPlan,
    options: &StartOptions<'_>,
    host: &Host,
    work: &WorkDir,
    sealed: &SealedSuite,
    copies: [Option<&SealedSuite>; 2],
) -> Result<Sandboxes, SandboxError> {
    let mut secluded = vec![plan.suite.root.clone()];
    secluded.extend(plan.plan.cases().map(|case| case.eval.dir.clone()));
    let places =
        |copy: &SealedSuite| -> Vec<_> { secluded.iter().map(|dir| copy.place(dir)).collect() };
    let places: Vec<Utf8PathBuf> = copies.into_iter().flatten().flat_map(places).collect();
    secluded.extend(places);
    let secluded: Vec<&Utf8Path> = secluded.iter().map(Utf8PathBuf::as_path).collect();
    let asked = plan.plan.cases().map(|case| case.variant.sandbox.as_ref());
    let builds = Builds {
        sealed,
        anew: options.rebuild_layers,
        tell: options.tell,
    };
    let new_dir = || work.new_dir();
    Sandboxes::set_up(asked, &options.settled, new_dir, host, &secluded, builds)
}

/// Makes room for open files, and tells whether it is enough for all trials that may be in flight.
fn reduced(plan: &RunPlan, limits: &Limits) -> Option<Reduced> {
    let wanted = plan.total(limits).min(plan.trials.len());
    let local = match plan.workers.pools.is_empty() {
        true => wanted,
        false => plan.local_slots().min(wanted),
    };
    let possible = open_file_limit::make_room_for(local, wanted - local);
    (possible < wanted).then_some(Reduced { wanted, possible })
}
