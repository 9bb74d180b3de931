//! Commands of a trial: shell commands of the suite, and the way in which every command runs.

use std::time::Duration;

use terca_core::config::sandbox::ContainedBy;
use terca_core::config::suite::Input;
use terca_core::process::Signal;
use terca_core::wire::network::Network;

use super::attachments::network::{AgentNetwork, NetworkRequest};
use super::attachments::{self, Attachments, CommandEnd, Limited};
use super::containment::{Side, command_enclosure, work_command};
use super::log::{RunLog, Stream};
use super::output::{LiveOutput, LogPart, Logged};
use super::stage_error::StageError;
use super::trial_run::TrialRun;
use crate::host::environment::Variables;
use crate::process::output_file::Output;
use crate::process::supervise::{Enclosure, Ended, Job, SuperviseError, Turn};

/// The time that a command has between being asked to end and being killed.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// The variable of the program with which tests start the agent's work.
const WORK: &str = "TERCA_WORK";
/// The remark about a machine on which that program hides nothing.
const HID_NOTHING: &str =
    "`$TERCA_WORK` hid nothing from the work: the kernel has no Landlock with rules for TCP";

/// A shell command of the suite.
pub(super) struct Shell<'a> {
    pub command: &'a str,
    pub timeout: Duration,
    pub env: Variables,
    /// Everything that it leaves running is ended.
    pub sweep: bool,
    /// The part of the trial that it belongs to.
    pub side: Side,
    /// The files outside of the suite that it says it reads.
    pub inputs: &'a [Input],
}

impl TrialRun<'_> {
    /// Runs a shell command in the workspace, with its output in the log while it comes in. Standard output and standard
    /// error are one file, or two where they are to be apart.
    pub(super) fn shell(
        &mut self,
        mut shell: Shell<'_>,
        logged: Logged,
        is_apart: bool,
    ) -> Result<(Ended, Output, Option<Output>), StageError> {
        let stdout = Output::create(&self.dirs.io)?;
        let stderr = match is_apart {
            true => Some(Output::create(&self.dirs.io)?),
            false => None,
        };
        // Set-up has no limits: it is none of the agent's doing.
        let limited = match shell.side {
            Side::Setup | Side::Layer => None,
            Side::Tests => Some(Limited::Test),
            Side::Solution => Some(Limited::Agent),
        };
        let mut attached = attachments::of_command(self, limited)?;
        let network = self.command_network(shell.side)?;
        shell.env.extend(network.variables());
        let work = match shell.side {
            Side::Tests => Some(work_command(self, &shell.env, &network)?),
            _ => None,
        };
        let path = work.iter().map(|work| work.path().into_string());
        shell.env.extend(path.map(|path| (WORK.to_owned(), path)));
        let walls = command_enclosure(self, shell.side, &shell.env, shell.inputs, &network);
        let job = self.shell_job(shell, &stdout, stderr.as_ref().unwrap_or(&stdout));
        let mask = &self.context.mask;
        let mut live = Vec::new();
        let streams = [
            (Stream::Out, Some(&stdout)),
            (Stream::Errors, stderr.as_ref()),
        ];
        for (stream, output) in streams {
            if let Some(output) = output {
                let part = LogPart::new(stream, logged);
                live.push(LiveOutput::open(output, mask, None, Some(part))?);
            }
        }
        let ended = self.run_job(job, walls, &mut attached, &mut |log| {
            let mut turn = Turn::Wait;
            for output in &mut live {
                // A read that fails now is tried again at the end, where failing counts.
                if output.read(log, &mut |_| {}).unwrap_or(false) {
                    turn = Turn::Again;
                }
            }
            turn
        })?;
        for output in live {
            output.finish(&mut self.log, &mut |_| {})?;
        }
        for output in [Some(&stdout), stderr.as_ref()].into_iter().flatten() {
            // What set-up has printed is none of the agent's business.
            output.unlink();
        }
        let mut end = CommandEnd {
            run: self,
            ended,
            session: None,
        };
        attachments::detach(attached, &mut end)?;
        let ended = end.ended;
        let is_told = self.remarks.iter().any(|remark| remark == HID_NOTHING);
        if !is_told && work.is_some_and(|work| work.has_hidden_nothing()) {
            self.remarks.push(HID_NOTHING.to_owned());
        }
        Ok((ended, stdout, stderr))
    }

    /// Returns the network of a command of the suite. Tests may have none but the trial's services.
    fn command_network(&self, side: Side) -> Result<AgentNetwork, StageError> {
        let is_contained = self.contained_by() != ContainedBy::None;
        let is_off = side == Side::Tests && self.context.offline_tests && is_contained;
        let request = NetworkRequest {
            network: if is_off {
                &Network::Off
            } else {
                &Network::Open
            },
            allow: &[],
            sandbox: self.spec.case.variant.sandbox.as_ref(),
            of_models: Vec::new(),
            needs_gateway: false,
            services: &self.service_addresses(),
        };
        request.make(self.context)
    }

    fn shell_job(&self, shell: Shell<'_>, stdout: &Output, stderr: &Output) -> Job {
        Job {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), shell.command.into()],
            env: shell.env,
            dir: self.dirs.workspace.clone(),
            stdin: None,
            stdout: stdout.path.clone(),
            stderr: stderr.path.clone(),
            timeout: shell.timeout,
            stop_signal: Signal::Terminate,
            grace: GRACE,
            sweep: shell.sweep,
            fixed_root: self.dirs.fixed_root.clone(),
        }
    }

    /// Runs a command to its end, unless the run has been interrupted before it starts. Each turn may write to the log.
    pub(super) fn run_job(
        &mut self,
        job: Job,
        walls: Option<Enclosure>,
        attached: &mut Attachments<'_>,
        on_turn: &mut dyn FnMut(&mut RunLog) -> Turn,
    ) -> Result<Ended, StageError> {
        if self.context.interrupt.is_stop() {
            return Err(StageError::Interrupted);
        }
        let (job, mut walls) = Enclosure::with_fixed_root(job, walls);
        for attachment in attached.iter_mut() {
            walls = attachment.enclose(walls)?;
        }
        let log = &mut self.log;
        let ended = self.supervisor.run(&job, walls.as_ref(), &mut |root| {
            let mut turns = attached.iter_mut().map(|one| one.on_turn(root));
            match turns.find(|turn| *turn != Turn::Wait) {
                Some(turn) => turn,
                None => on_turn(log),
            }
        });
        ended.map_err(|error| self.start_error(error))
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
