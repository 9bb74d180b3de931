//! One trial while it runs: everything that stays the same from its first stage to its last.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::redirect::Redirect;
use terca_core::config::gateway::GatewayMode;
use terca_core::config::sandbox::Image;
use terca_core::config::suite::Input;
use terca_core::grade::JudgedBy;
use terca_core::plan::TrialSpec;
use terca_core::run::event::{EventKind, Phase};
use terca_core::transcript::Usage;

use super::containment::{ContainedCommand, Side};
use super::context::Context;
use super::folder::TrialFolder;
use super::live::{Logged, Logging};
use super::log::{RunLog, Stream};
use super::stage_error::StageError;
use crate::host::environment::{Host, Variables};
use crate::host::package_caches::PackageCaches;
use crate::host::registries::{self, RegistryFiles};
use crate::limits::{LimitedCommand, WatchedDir};
use crate::process::output_file::Output;
use crate::process::supervise::{
    Enclosure, Ended, Job, Signal, SuperviseError, SupervisorGuard, Turn,
};
use crate::tree::{Limits, Options};
use crate::workspace::changes::Snapshot;
use crate::workspace::trial_dirs::{CommandDirs, TrialDirs};

/// The time that a command has between being asked to end and being killed.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// One trial while it runs.
pub(super) struct TrialRun<'a> {
    pub(super) spec: &'a TrialSpec,
    pub(super) context: &'a Context,
    pub(super) progress: Progress<'a>,
    /// The trial's folder in the run.
    pub(super) folder: TrialFolder,
    pub(super) log: RunLog,
    /// The number of this attempt, from 1.
    pub(super) attempt: u32,
    /// Sentences about limits that were met, for its notes.
    pub(super) limits_met: Vec<String>,
    /// Sentences about its tests, for its notes.
    pub(super) remarks: Vec<String>,
    /// The judges that have been asked.
    pub(super) judges: Vec<JudgedBy>,
    /// The directories that its workspace was copied from, lowest first.
    pub(super) base: Vec<Utf8PathBuf>,
    /// The workspace as the agent found it, once the agent is gone.
    pub(super) snapshot: Option<Snapshot>,
    // Before the directories: processes end before their directories are removed.
    pub(super) supervisor: SupervisorGuard<'a>,
    pub(super) dirs: TrialDirs,
}

/// Reports the progress of a trial to the display.
#[derive(Clone, Copy)]
pub(super) struct Progress<'a> {
    trial: u32,
    emit: &'a dyn Fn(EventKind),
}

impl Progress<'_> {
    /// Reports that a stage has begun.
    pub(super) fn phase(self, phase: Phase) {
        (self.emit)(EventKind::PhaseStarted {
            trial: self.trial,
            phase,
        });
    }

    /// Reports that a step of `prepare` was made, for an eval or for the suite.
    pub(super) fn step_made(self, eval: Option<String>, seconds: f64) {
        (self.emit)(EventKind::StepMade {
            trial: self.trial,
            eval,
            seconds,
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

/// A shell command of the suite.
pub(super) struct Shell<'a> {
    pub(super) command: &'a str,
    pub(super) timeout: Duration,
    pub(super) env: Variables,
    /// Everything that it leaves running is ended.
    pub(super) sweep: bool,
    /// The part of the trial that it belongs to.
    pub(super) side: Side,
    /// The files outside of the suite that it says it reads.
    pub(super) inputs: &'a [Input],
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
        let (folder, log) = TrialFolder::reopen(spec, grading, context)?;
        TrialRun::new(spec, context, emit, folder, log)
    }

    /// Returns walls within which the workspace is there, if it is mounted where only its own commands see it.
    pub(super) fn with_mounts(&self, walls: Option<Enclosure>) -> io::Result<Option<Enclosure>> {
        let Some(confinement) = self.dirs.mounts().transpose()? else {
            return Ok(walls);
        };
        Ok(Some(match walls {
            Some(walls) => walls.behind(&confinement),
            None => Enclosure::without_walls(&confinement),
        }))
    }

    /// Takes the agent's keys out of an environment, where the gateway keeps them: tests run the agent's work.
    pub(super) fn take_keys_of_gateway(&self, env: &mut Variables) {
        let case = &self.spec.case;
        let contained_by = self
            .context
            .sandboxes
            .contained_by(case.variant.sandbox.as_ref());
        if case.gateway_in(contained_by) != GatewayMode::Off {
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
            limits_met: Vec::new(),
            remarks: Vec::new(),
            judges: Vec::new(),
            base: Vec::new(),
            snapshot: None,
            dirs: context.work.trial_dirs()?,
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
    pub(super) fn place_registries(&self, home: &Utf8Path) -> io::Result<RegistryFiles> {
        if !self.spec.case.suite.pass_registries {
            return Ok(RegistryFiles::default());
        }
        RegistryFiles::place(&self.context.host, home)
    }

    /// Links the downloads of package managers into a home, if the suite keeps them.
    pub(super) fn place_package_caches(&self, home: &Utf8Path) -> io::Result<PackageCaches> {
        let caches = &self.spec.case.suite.package_caches;
        PackageCaches::place(caches, &self.context.suite_dir, home)
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
        self.host().for_command(
            dirs,
            self.spec,
            &self.context.sealed.dir(&self.context.suite_dir),
            &self.folder.path,
            &self.context.sealed.dir(beside),
            self.registry_variables(),
        )
    }

    /// Runs a shell command in the workspace, with its output in the log while it comes in. Standard output and standard
    /// error are one.
    pub(super) fn shell(
        &mut self,
        shell: Shell<'_>,
        logged: Logged,
    ) -> Result<(Ended, Output), StageError> {
        let output = Output::create(&self.dirs.io)?;
        let limited = self.limited_shell(&shell)?;
        let job = self.shell_job(shell, &output, &output);
        let outputs = [(Stream::Out, &output)];
        let ended = self.run_logged(&job, limited, &outputs, logged)?;
        Ok((ended, output))
    }

    /// Runs a shell command in the workspace, with its output in the log while it comes in. Standard output and standard
    /// error are two files.
    pub(super) fn shell_apart(
        &mut self,
        shell: Shell<'_>,
        logged: Logged,
    ) -> Result<(Ended, Output, Output), StageError> {
        let stdout = Output::create(&self.dirs.io)?;
        let stderr = Output::create(&self.dirs.io)?;
        let limited = self.limited_shell(&shell)?;
        let job = self.shell_job(shell, &stdout, &stderr);
        let outputs = [(Stream::Out, &stdout), (Stream::Errors, &stderr)];
        let ended = self.run_logged(&job, limited, &outputs, logged)?;
        Ok((ended, stdout, stderr))
    }

    fn run_logged(
        &mut self,
        job: &Job,
        limited: Limited,
        outputs: &[(Stream, &Output)],
        logged: Logged,
    ) -> Result<Ended, StageError> {
        let mask = &self.context.mask;
        let mut logging = Logging::begin(outputs, logged, mask, &mut self.log)?;
        let ended = self.run_job(job, limited, &mut |log| logging.on_turn(log))?;
        logging.finish(&mut self.log)?;
        for (_, output) in outputs {
            // What set-up has printed is none of the agent's business.
            output.unlink();
        }
        Ok(ended)
    }

    /// Returns the walls and limits of a command of the suite. Set-up has no limits: it is none of the agent's doing.
    fn limited_shell(&self, shell: &Shell<'_>) -> io::Result<Limited> {
        let enclosure = self.with_mounts(self.enclosure(shell))?;
        match shell.side {
            Side::Setup | Side::Layer => Ok(Limited::without_limits(enclosure)),
            Side::Tests => self.limited(Who::Test, enclosure),
            Side::Solution => self.limited(Who::Agent, enclosure),
        }
    }

    /// Returns an enclosure in which the limits of the trial are kept.
    pub(super) fn limited(&self, who: Who, enclosure: Option<Enclosure>) -> io::Result<Limited> {
        let dirs = &self.dirs;
        let tmp = match who {
            Who::Test => dirs.for_tests().tmp,
            Who::Agent => dirs.for_agent().tmp,
        };
        let watched = vec![
            WatchedDir {
                name: "workspace",
                dir: dirs.changes().unwrap_or(dirs.workspace.clone()),
                mount: dirs.changes().map(|_| dirs.here()),
            },
            WatchedDir::new("home", dirs.home.clone()),
            WatchedDir::new("temporary directory", tmp.to_owned()),
            WatchedDir::new("output", dirs.io.clone()),
        ];
        let limits = &self.spec.case.limits;
        let command = self.context.limits.begin(limits, enclosure, watched)?;
        Ok(Limited::Yes(who, Box::new(command)))
    }

    fn enclosure(&self, shell: &Shell<'_>) -> Option<Enclosure> {
        let contained = ContainedCommand {
            side: shell.side,
            case: &self.spec.case,
            dirs: &self.dirs,
            folder: &self.folder.path,
            artifacts: &self.folder.artifacts(),
            env: &shell.env,
            inputs: shell.inputs,
        };
        contained.enclosure(self.context)
    }

    fn shell_job(&self, shell: Shell<'_>, stdout: &Output, stderr: &Output) -> Job {
        Job {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), shell.command.into()],
            env: shell.env.into_iter().collect(),
            dir: self.dirs.workspace.clone(),
            stdin: None,
            stdout: stdout.path.clone(),
            stderr: stderr.path.clone(),
            timeout: shell.timeout,
            stop_signal: Signal::Terminate,
            grace: GRACE,
            sweep: shell.sweep,
        }
    }

    /// Runs a command to its end, unless the run has been interrupted before it starts. Each turn may write to the log.
    pub(super) fn run_job(
        &mut self,
        job: &Job,
        limited: Limited,
        on_turn: &mut dyn FnMut(&mut RunLog) -> Turn,
    ) -> Result<Ended, StageError> {
        if self.context.interrupt.is_stop() {
            return Err(StageError::Interrupted);
        }
        let log = &mut self.log;
        let (who, mut command) = match limited {
            Limited::No(enclosure) => {
                let enclosure = enclosure.as_deref();
                let ended = self.supervisor.run(job, enclosure, &mut || on_turn(log));
                return ended.map_err(|error| self.start_error(error));
            }
            Limited::Yes(who, command) => (who, command),
        };
        let enclosure = command.take_enclosure();
        let mut turn = |root| match command.on_turn(root) {
            Turn::Kill => Turn::Kill,
            _ => on_turn(log),
        };
        let ended = match &enclosure {
            Some(enclosure) => self.supervisor.run_in(enclosure, job, &mut turn),
            None => {
                let root = self.supervisor.root();
                self.supervisor.run(job, None, &mut || turn(root))
            }
        };
        let mut ended = ended.map_err(|error| self.start_error(error))?;
        if command.was_ended() && !self.context.interrupt.is_stop() {
            ended.stopped = false;
        }
        for sentence in command.met(who.noun()) {
            self.log.line(&sentence)?;
            self.limits_met.push(sentence);
        }
        Ok(ended)
    }

    /// Returns the trial's error for a command that could not be run. A program that is missing may be missing in an image.
    fn start_error(&self, error: SuperviseError) -> StageError {
        match (error, self.image()) {
            (SuperviseError::Program { program, reason }, Some(image)) => {
                StageError::not_in_image(image, &program, &reason)
            }
            (error, _) => error.into(),
        }
    }
}

/// The one whose limits are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Agent,
    Test,
}

impl Who {
    fn noun(self) -> &'static str {
        match self {
            Who::Agent => "the agent",
            Who::Test => "a test",
        }
    }
}

/// The walls of a command, and its limits if it has any.
#[derive(Debug)]
pub(super) enum Limited {
    No(Option<Box<Enclosure>>),
    Yes(Who, Box<LimitedCommand>),
}

impl Limited {
    /// Returns the walls of a command that has no limits.
    pub(super) fn without_limits(enclosure: Option<Enclosure>) -> Self {
        Limited::No(enclosure.map(Box::new))
    }
}
