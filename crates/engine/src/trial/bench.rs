//! The workbench of one trial: its directories, its log, its supervisor.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::plan::TrialSpec;
use terca_core::run::event::{EventKind, Phase};
use terca_core::transcript::Usage;

use super::session::Seat;
use super::{Context, Stop, attempts};
use crate::host::environment::Variables;
use crate::process::output_file::Output;
use crate::process::supervise::{Ended, Job, Signal, SupervisorGuard};
use crate::trial::log::RunLog;
use crate::workspace::trial_dirs::{Dirs, Room};

/// How long a command has between being asked to end and being killed.
pub(super) const GRACE: Duration = Duration::from_secs(5);

pub(super) struct Bench<'a> {
    pub(super) trial: &'a TrialSpec,
    pub(super) context: &'a Context,
    pub(super) emit: &'a dyn Fn(EventKind),
    /// The trial's folder in the run.
    pub(super) dir: Utf8PathBuf,
    pub(super) artifacts: Utf8PathBuf,
    pub(super) log: RunLog,
    // Before the room: the processes end before their directories go.
    pub(super) supervisor: SupervisorGuard<'a>,
    pub(super) room: Room,
}

/// A shell command of the suite's.
pub(super) struct Shell<'a> {
    pub(super) command: &'a str,
    pub(super) timeout: Duration,
    pub(super) env: Variables,
    pub(super) dir: &'a Utf8Path,
    pub(super) sweep: bool,
}

impl Shell<'_> {
    fn job(self, stdout: &Output, stderr: &Output) -> Job {
        Job {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), self.command.into()],
            env: self.env.into_iter().collect(),
            dir: self.dir.to_owned(),
            stdin: None,
            stdout: stdout.path.clone(),
            stderr: stderr.path.clone(),
            timeout: self.timeout,
            stop_signal: Signal::Terminate,
            grace: GRACE,
            sweep: self.sweep,
        }
    }
}

impl<'a> Bench<'a> {
    pub(super) fn open(
        trial: &'a TrialSpec,
        attempt: u32,
        context: &'a Context,
        emit: &'a dyn Fn(EventKind),
    ) -> io::Result<Self> {
        let dir = context.run_dir.join(&trial.dir);
        attempts::clear(&dir, attempt)?;
        let artifacts = dir.join("artifacts");
        fs_err::create_dir_all(&artifacts)?;
        let room = context.work.room(trial.id)?;
        // Whoever watches finds the live workspace where it will be in the end.
        fs_err::os::unix::fs::symlink(&room.workspace, dir.join("workspace"))?;
        // There whatever becomes of the trial, so that nobody has to ask whether.
        for file in ["transcript.jsonl", "changes.diff"] {
            fs_err::File::create(dir.join(file))?;
        }
        let log = RunLog::create(&dir.join("run.log"), &context.mask)?;
        let supervisor = context
            .supervisors
            .acquire(&context.interrupt)
            .map_err(io::Error::other)?;
        Ok(Bench {
            trial,
            context,
            emit,
            dir,
            artifacts,
            log,
            supervisor,
            room,
        })
    }

    /// For a trial that ran before, to be graded again: its folder is there, and stays as it is.
    pub(super) fn reopen(
        trial: &'a TrialSpec,
        grading: u32,
        context: &'a Context,
        emit: &'a dyn Fn(EventKind),
    ) -> io::Result<Self> {
        let dir = context.run_dir.join(&trial.dir);
        let logs = dir.join("gradings");
        fs_err::create_dir_all(&logs)?;
        let log = RunLog::create(&logs.join(format!("{grading:02}.log")), &context.mask)?;
        let room = context.work.room(trial.id)?;
        let supervisor = context
            .supervisors
            .acquire(&context.interrupt)
            .map_err(io::Error::other)?;
        Ok(Bench {
            trial,
            context,
            emit,
            artifacts: dir.join("artifacts"),
            dir,
            log,
            supervisor,
            room,
        })
    }

    pub(super) fn phase(&self, phase: Phase) {
        (self.emit)(EventKind::PhaseStarted {
            trial: self.trial.id,
            phase,
        });
    }

    /// Tells whoever watches about something that may take a while.
    pub(super) fn doing(&self, what: &str, usage: Usage) {
        let first = what.trim().lines().next().unwrap_or_default();
        let doing = self.context.mask.text(first);
        (self.emit)(EventKind::Progress {
            trial: self.trial.id,
            doing,
            usage,
        });
    }

    /// Where the trial's agent works.
    pub(super) fn seat(&self) -> Seat {
        Seat::in_room(
            &self.room,
            self.artifacts.clone(),
            self.dir.join("transcript.jsonl"),
        )
    }

    /// The environment of a command of `before` or of a test, beside whose YAML file it may find programs.
    pub(super) fn command_environment(&self, dirs: Dirs<'_>, beside: &Utf8Path) -> Variables {
        self.context
            .host
            .for_command(dirs, self.trial, &self.context.suite_dir, &self.dir, beside)
    }

    /// Runs a shell command; all that it prints is in the returned output.
    pub(super) fn shell(&mut self, shell: Shell<'_>) -> Result<(Ended, Output), Stop> {
        let output = Output::create(&self.room.io)?;
        let job = shell.job(&output, &output);
        let ended = self.run(&job, &mut || false)?;
        Ok((ended, output))
    }

    /// The same, with standard output and standard error apart.
    pub(super) fn shell_apart(
        &mut self,
        shell: Shell<'_>,
    ) -> Result<(Ended, Output, Output), Stop> {
        let (stdout, stderr) = (
            Output::create(&self.room.io)?,
            Output::create(&self.room.io)?,
        );
        let job = shell.job(&stdout, &stderr);
        let ended = self.run(&job, &mut || false)?;
        Ok((ended, stdout, stderr))
    }

    pub(super) fn run(&mut self, job: &Job, turn: &mut dyn FnMut() -> bool) -> Result<Ended, Stop> {
        if self.context.interrupt.is_stop() {
            return Err(Stop::Interrupted);
        }
        Ok(self.supervisor.run(job, turn)?)
    }
}
