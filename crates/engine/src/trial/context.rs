//! The things that all trials of a run share.

use std::sync::Arc;

use camino::Utf8PathBuf;
use terca_core::config::sandbox::{ContainedBy, Sandbox};
use terca_core::run::settings::Keep;
use terca_core::text::mask::Mask;
use terca_core::wire::network::HostPattern;

use super::mcp_answers::Preflights;
use super::model_source::{ReplaySource, RunGateway};
use super::running_service::RunServices;
use crate::host::agent_store::{AgentStore, Means};
use crate::host::environment::Host;
use crate::host::version::Versions;
use crate::mcp_tap::KeptProgram;
use crate::process::fixed_root::FixedRoot;
use crate::process::interrupt::Interrupt;
use crate::process::supervise::SupervisorPool;
use crate::sandbox::Sandboxes;
use crate::sandbox::limits::LimitKeeper;
use crate::suite::discover::{Extent, Machine};
use crate::tree::{Limits, Options, TreeError};
use crate::workspace::base_layers::{BaseLayer, BaseLayers};
use crate::workspace::layers::LayerCache;
use crate::workspace::merged_layers::{MergedLayers, MergedLayersOfRun};
use crate::workspace::overlays::Overlays;
use crate::workspace::saved::restore::CheckedLayers;
use crate::workspace::sealed_suite::SealedSuite;
use crate::workspace::trial_dirs::{TrialDirs, WorkDir};
use terca_core::plan::project_dir::ProjectDir;

/// The things that all trials of a run share.
#[derive(Debug)]
pub struct Context {
    /// The directory of the suite.
    pub suite_dir: Utf8PathBuf,
    /// The run's folder, which has a folder for each trial.
    pub run_dir: Utf8PathBuf,
    /// The workspaces that are mounted instead of copied. They go before the directory that they are in.
    pub overlays: Overlays,
    /// The services of its trials. They end before their directories are removed.
    pub services: RunServices,
    /// The directory in which trials live while they run.
    pub work: WorkDir,
    /// The secrets that must not be written down.
    pub mask: Mask,
    /// The environment that Terca was started with.
    pub host: Host,
    /// The signal to stop, for all trials.
    pub interrupt: Arc<Interrupt>,
    /// The workspaces to keep.
    pub keep: Keep,
    /// Tests in a sandbox reach no network.
    pub offline_tests: bool,
    /// The agents that Terca installs.
    pub agents: AgentStore,
    /// The versions of the agents' programs.
    pub versions: Versions,
    /// The layers that `prepare` has made.
    pub layers: LayerCache,
    /// The layers that its trials start from, as they are kept for all runs of the suite.
    pub base_layers: Arc<BaseLayers>,
    /// The same, as workspaces have them one over the other.
    pub merged_layers: MergedLayersOfRun,
    /// The layers of a saved run that were found whole.
    pub checked_layers: CheckedLayers,
    /// Workspaces that are kept are saved as a whole: they are sent to another machine, which has no layers.
    pub keeps_whole: bool,
    /// The suite's files, as they were when the run started.
    pub sealed: SealedSuite,
    /// Those that agents are started with, at a path of their own.
    pub programs: Option<SealedSuite>,
    /// The MCP servers that have been asked.
    pub preflights: Preflights,
    /// The sandboxes of trials that ask for one.
    pub sandboxes: Sandboxes,
    /// Keeps the limits of trials.
    pub limits: LimitKeeper,
    /// The hosts that MCP servers of the run are fetched from.
    pub package_hosts: Vec<HostPattern>,
    /// Terca's own program, as agents start it in the place of their MCP servers.
    pub tap_program: KeptProgram,
    /// The gateway between agents and their models.
    pub gateway: RunGateway,
    /// The run whose recorded answers take the place of models, in a replay.
    pub replay: Option<ReplaySource>,
    /// The supervisors that trials run under.
    pub supervisors: SupervisorPool,
}

impl Context {
    /// Returns the sealed copies of the suite's files, each with the number of times that something of it was restored.
    pub(super) fn times_restored(&self) -> Vec<(&SealedSuite, usize)> {
        let copies = [Some(&self.sealed), self.programs.as_ref()];
        let copies = copies.into_iter().flatten();
        copies.map(|copy| (copy, copy.times_restored())).collect()
    }

    /// Returns the means to install agents. `tell` hears what takes long.
    pub(crate) fn means(&self, tell: Option<fn(&str)>) -> Means<'_> {
        Means {
            host: &self.host,
            work: &self.work,
            interrupt: &self.interrupt,
            tell,
        }
    }

    /// Returns Terca's own program as an agent in this sandbox finds it; `None` if it cannot be kept for agents without one.
    pub(super) fn own_program(&self, sandbox: Option<&Sandbox>) -> Option<Utf8PathBuf> {
        let kept = || self.tap_program.get(|| self.work.new_dir());
        self.sandboxes.tap_program(sandbox).or_else(kept)
    }

    /// Returns the directory that the suite's commands may read.
    pub fn project_dir(&self) -> ProjectDir {
        let machine = Machine {
            extent: Extent::Whole,
            variable: &|name| self.host.get(name).map(str::to_owned),
        };
        ProjectDir::of(&self.suite_dir, &machine)
    }

    /// Returns the path at which commands find the directory of their trial, which all trials have in common. `None` where
    /// that is impossible. Without a sandbox it is done where it is `needed`, for steps whose results are kept: it takes
    /// time, and `sudo` does not work there.
    pub(super) fn shown_root(&self, asked: Option<&Sandbox>, needed: bool) -> Option<Utf8PathBuf> {
        let contained_by = self.sandboxes.contained_by(asked);
        let is_wanted = needed || contained_by != ContainedBy::None;
        let can_be = is_wanted && self.overlays.can_show(contained_by, &self.work);
        can_be.then(|| self.work.shown_root())
    }

    /// Lets the commands of a trial find its directories at the path that all trials have in common.
    pub(super) fn fix_root(&self, dirs: &mut TrialDirs, asked: Option<&Sandbox>, needed: bool) {
        let shown = self.shown_root(asked, needed);
        let workdir = self.sandboxes.workdir(asked);
        dirs.fixed_root = shown.map(|shown| FixedRoot {
            real: dirs.root.clone(),
            shown,
            workspace: workdir.map(|workdir| (dirs.workspace.clone(), workdir.to_owned())),
        });
    }

    /// Returns whether workspaces are saved as what changed in the layers that they started from.
    pub(super) fn saves_changes(&self) -> bool {
        !self.keeps_whole && matches!(self.keep, Keep::Changed | Keep::Failed)
    }

    /// Returns the layers that are kept, for the directories that a workspace starts from.
    pub(super) fn kept_layers(
        &self,
        base: &[Utf8PathBuf],
        options: &Options<'_>,
    ) -> Result<Arc<MergedLayers>, TreeError> {
        let layers = base.iter().map(|dir| self.base_layers.get(dir, options));
        let layers: Vec<BaseLayer> = layers.collect::<Result<_, _>>()?;
        self.merged_layers.get(&layers, options)
    }

    /// Returns whether the network of a contained agent is the machine's own, with rules for its ports.
    pub(super) fn is_network_by_port(&self, asked: Option<&Sandbox>) -> bool {
        self.sandboxes.contained_by(asked).has_rules_for_ports()
    }

    /// Returns the environment that the commands of a sandbox are made from: a container has its image's own.
    pub(super) fn host_in(&self, sandbox: Option<&Sandbox>) -> &Host {
        self.sandboxes.host(sandbox, &self.host)
    }

    /// Returns the settings for a tree of this trial's own. An interrupt ends the operation.
    pub(super) fn own_tree(&self, limits: Limits) -> Options<'_> {
        Options {
            limits,
            unlock: true,
            should_stop: &*self.interrupt,
        }
    }

    /// Returns the settings for a tree of the suite, which several trials may read at once. An interrupt ends the
    /// operation.
    pub(super) fn suite_tree(&self) -> Options<'_> {
        Options {
            limits: Limits::NONE,
            unlock: false,
            should_stop: &*self.interrupt,
        }
    }
}
