//! One trial while it runs: everything that stays the same from its first stage to its last.

use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::redirect::Redirect;
use terca_core::config::gateway::GatewayMode;
use terca_core::config::sandbox::{ContainedBy, Image};
use terca_core::plan::{Layer, TrialSpec};
use terca_core::run::event::{EventKind, Phase};
use terca_core::run::outcome::TrialReport;
use terca_core::transcript::Usage;

use super::context::Context;
use super::folder::TrialFolder;
use super::log::RunLog;
use super::running_service::{RunningService, ServiceAddress};
use super::stage_error::StageError;
use crate::host::environment::{Host, Variables};
use crate::host::package_caches::{self, PlacedFiles};
use crate::host::registries;
use crate::process::supervise::{Ended, SupervisorGuard};
use crate::tree::{Limits, Options};
use crate::workspace::changes::Snapshot;
use crate::workspace::merged_layers::MergedLayers;
use crate::workspace::sealed_suite::SealedSuite;
use crate::workspace::trial_dirs::{CommandDirs, TrialDirs};

/// One trial while it runs.
pub(super) struct TrialRun<'a> {
    pub spec: &'a TrialSpec,
    pub context: &'a Context,
    pub progress: Progress<'a>,
    /// The trial's folder in the run.
    pub folder: TrialFolder,
    pub log: RunLog,
    /// The number of this attempt, from 1.
    pub attempt: u32,
    /// The sealed copies of the suite's files, each with the number of times that something of it had been restored.
    pub restored: Vec<(&'a SealedSuite, usize)>,
    /// Sentences about limits that were met, for its notes.
    pub limits_met: Vec<String>,
    /// Sentences about its tests, for its notes.
    pub remarks: Vec<String>,
    /// Its report, as far as it is known. All judges that were asked are among those that were paid.
    pub report: TrialReport,
    /// The agent has changed what it had no business with, or no test can run on what it left.
    pub is_breach: bool,
    /// The workspace can be kept: it is not too large, and no mount.
    pub is_keepable: bool,
    /// The layers that its workspace was copied or mounted from.
    pub layers: Arc<MergedLayers>,
    /// The workspace as the agent found it, once the agent is gone.
    pub snapshot: Option<Snapshot>,
    /// The hidden files in the workspace of its tests.
    pub hidden: Vec<Utf8PathBuf>,
    /// The programs beside it, in the order of the case's.
    pub services: Vec<RunningService>,
    // Before the directories: processes end before their directories are removed.
    pub supervisor: SupervisorGuard<'a>,
    pub dirs: TrialDirs,
}

/// Reports the progress of a trial to the display.
#[derive(Clone, Copy)]
pub(super) struct Progress<'a> {
    trial: u32,
    pub emit: &'a dyn Fn(EventKind),
}

impl Progress<'_> {
    /// Reports that a stage has begun.
    pub(super) fn phase(self, phase: Phase) {
        (self.emit)(EventKind::PhaseStarted {
            trial: self.trial,
            phase,
        });
    }

    /// Reports an activity that may take a while, and what the agent has used so far. Secrets must be masked.
    pub(super) fn report(self, doing: String, usage: Usage) {
        (self.emit)(EventKind::Progress {
            trial: self.trial,
            doing,
            usage,
        });
    }
}

impl<'a> TrialRun<'a> {
    /// Begins an attempt: makes the trial's folder and its directories.
    pub(super) fn open(
        spec: &'a TrialSpec,
        attempt: u32,
        context: &'a Context,
        emit: &'a dyn Fn(EventKind),
    ) -> io::Result<Self> {
        let (folder, log) = TrialFolder::create(spec, attempt, context)?;
        let mut run = TrialRun::new(spec, context, emit, folder, log)?;
        run.attempt = attempt;
        let delivery = &mut run.report.delivery;
        delivery
            .model_requested
            .clone_from(&spec.case.variant.model);
        run.folder.link_workspace(&run.dirs)?;
        Ok(run)
    }

    /// Begins to grade a trial again that ran before. Its folder stays as it is.
    pub(super) fn reopen(
        spec: &'a TrialSpec,
        grading: u32,
        context: &'a Context,
        emit: &'a dyn Fn(EventKind),
    ) -> io::Result<Self> {
        let asked = spec.case.variant.sandbox.as_ref();
        context.sandboxes.check(asked).map_err(io::Error::other)?;
        let (folder, log) = TrialFolder::reopen(spec, grading, context)?;
        TrialRun::new(spec, context, emit, folder, log)
    }

    /// Takes the agent's keys out of an environment, where the gateway keeps them: tests run the agent's work.
    pub(super) fn take_keys_of_gateway(&self, env: &mut Variables) {
        let case = &self.spec.case;
        if case.gateway_in(self.contained_by()) != GatewayMode::Off {
            let variant = &case.variant;
            let profile = variant.agent.agent.profile();
            let redirect = Redirect::find(profile, env, variant.config.as_ref());
            env.retain(|_, value| !redirect.keys.iter().any(|known| known.key == *value));
        }
    }

    fn new(
        spec: &'a TrialSpec,
        context: &'a Context,
        emit: &'a dyn Fn(EventKind),
        folder: TrialFolder,
        log: RunLog,
    ) -> io::Result<Self> {
        let mut dirs = context.work.trial_dirs()?;
        let case = &spec.case;
        let is_prepared = |layer: &Layer| matches!(layer, Layer::Prepared(_));
        let is_needed = case.layers.iter().any(is_prepared);
        context.fix_root(&mut dirs, case.variant.sandbox.as_ref(), is_needed);
        Ok(TrialRun {
            spec,
            context,
            progress: Progress {
                trial: spec.id,
                emit,
            },
            folder,
            log,
            attempt: 1,
            restored: context.times_restored(),
            limits_met: Vec::new(),
            remarks: Vec::new(),
            report: TrialReport::pending(),
            is_breach: false,
            is_keepable: true,
            layers: Arc::default(),
            snapshot: None,
            hidden: Vec::new(),
            services: Vec::new(),
            dirs,
            supervisor: context
                .supervisors
                .acquire(&context.interrupt)
                .map_err(io::Error::other)?,
        })
    }

    /// Returns the settings for a tree of this trial's own that has what the agent left.
    pub(super) fn agent_tree(&self) -> Options<'_> {
        self.context.own_tree(Limits {
            bytes: self.spec.case.limits.disk,
            ..Limits::default()
        })
    }

    /// Shows the first line of a text as the trial's activity.
    pub(super) fn doing(&self, what: &str, usage: Usage) {
        let what = self.context.mask.text(what);
        let first_line = what.trim().lines().next().unwrap_or_default();
        self.progress.report(first_line.to_owned(), usage);
    }

    /// Returns the variables of registries, if the suite passes them to its commands.
    pub(super) fn registry_variables(&self) -> Variables {
        if self.spec.case.suite.pass_registries {
            registries::variables(&self.context.host)
        } else {
            Variables::default()
        }
    }

    /// Copies the files of registries into a home, if the suite passes them to its commands.
    pub(super) fn place_registries(&self, home: &Utf8Path) -> io::Result<PlacedFiles> {
        if !self.spec.case.suite.pass_registries {
            return Ok(PlacedFiles::default());
        }
        registries::place(&self.context.host, home)
    }

    /// Links the downloads of package managers into a home, if the suite keeps them.
    pub(super) fn place_package_caches(&self, home: &Utf8Path) -> io::Result<PlacedFiles> {
        let caches = &self.spec.case.suite.package_caches;
        package_caches::place(caches, &self.context.suite_dir, home)
    }

    /// Returns the places of the trial's services.
    pub(super) fn service_addresses(&self) -> Vec<ServiceAddress> {
        let services = self.services.iter();
        services.map(|service| service.address.clone()).collect()
    }

    /// Copies the caches that tests may use into their home.
    pub(super) fn copy_test_caches(&mut self) -> Result<(), StageError> {
        let caches = &self.spec.case.suite.test_caches;
        let (home, suite_dir) = (&self.dirs.home, &self.context.suite_dir);
        let options = self.context.suite_tree();
        for line in package_caches::copy_into(home, caches, suite_dir, &options)? {
            self.log.line(&line)?;
        }
        Ok(())
    }

    /// Returns what contains the trial's commands.
    pub(super) fn contained_by(&self) -> ContainedBy {
        let asked = self.spec.case.variant.sandbox.as_ref();
        self.context.sandboxes.contained_by(asked)
    }

    /// Returns whether the supervisor of a command was killed where nothing inside can do that.
    pub(super) fn is_killed_from_outside(&self, ended: &Ended) -> bool {
        ended.killed_from_outside && self.contained_by().has_own_processes()
    }

    /// Returns the image of the containers that the trial's commands run in.
    pub(super) fn image(&self) -> Option<&Image> {
        let asked = self.spec.case.variant.sandbox.as_ref();
        self.context.sandboxes.image(asked)
    }

    /// Returns the environment that the trial's commands are made from.
    pub(super) fn host(&self) -> &Host {
        self.context
            .host_in(self.spec.case.variant.sandbox.as_ref())
    }

    /// Returns the environment of a command of `before` or of a test, which may use programs beside its YAML file.
    pub(super) fn command_environment(
        &self,
        dirs: CommandDirs<'_>,
        beside: &Utf8Path,
    ) -> Variables {
        let case = &self.spec.case;
        let variant = &case.variant;
        let sealed = &self.context.sealed;
        let given = self.registry_variables().into_iter();
        // The agent may not know its trial.
        let facts = [
            (
                "TERCA_SUITE_DIR",
                sealed.dir(&self.context.suite_dir).into(),
            ),
            ("TERCA_EVAL", case.eval.name.clone()),
            ("TERCA_ENVIRONMENT", variant.told_environment.clone()),
            ("TERCA_EXPERIMENT", variant.told_experiment.clone()),
            ("TERCA_REPETITION", self.spec.repetition.to_string()),
            ("TERCA_TRIAL_DIR", self.folder.path.to_string()),
        ];
        let given = given.chain(case.env.iter().cloned());
        self.host()
            .for_suite(dirs, given, &sealed.dir(beside), facts)
    }
}
