//! An agent as a process: started, listened to, and its output kept.

use std::io;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use terca_core::agent::{Decoder, Ending, Profile, Reading, SideFile, TimeLimit};
use terca_core::config::sandbox::Sandbox;
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;
use terca_core::wire::Wire;
use terca_core::wire::network::TrialNetwork;

use super::last_words::STDOUT_LOG;
use super::listener::{Listener, OnProgress};
use super::transcript::Transcript;
use crate::host::environment::Variables;
use crate::process::output_file::Output;
use crate::process::supervise::{Enclosure, Ended, Job};
use crate::sandbox::Words;
use crate::trial::agent_request::AgentDirs;
use crate::trial::attachments::network::AgentNetwork;
use crate::trial::attachments::{self, Attachment, Attachments, CommandEnd, Limited, SessionEnd};
use crate::trial::command::GRACE;
use crate::trial::containment::ContainedAgent;
use crate::trial::context::Context;
use crate::trial::log::{RunLog, Stream};
use crate::trial::output::{KeptFile, LiveOutput, LogPart, Logged};
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;

/// The artifact with the events that an agent prints.
const STREAM: &str = "stream.jsonl";
const STDERR_LOG: &str = "stderr.log";

/// An agent's process that is ready to start.
pub(in crate::trial) struct AgentProcess {
    pub(super) command: AgentCommand,
    pub(super) decoder: Decoder,
    /// Everything between it and the world.
    pub(super) attachments: Attachments<'static>,
}

/// The command of an agent.
pub(super) struct AgentCommand {
    pub(super) profile: &'static Profile,
    pub(super) dirs: AgentDirs,
    pub(super) program: Utf8PathBuf,
    /// The agent's own program, which is another one where Terca's client starts it.
    pub(super) agent_program: Utf8PathBuf,
    pub(super) args: Vec<String>,
    pub(super) env: Variables,
    /// The file that it reads; `None` is an empty input.
    pub(super) stdin: Option<Utf8PathBuf>,
    /// Files that it leaves behind and that say more than its output does.
    pub(super) side_files: Vec<SideFile>,
    pub(super) timeout: Duration,
    pub(super) sandbox: Option<Sandbox>,
    /// The words of its command and its MCP servers that may name files.
    pub(super) words: Vec<String>,
    pub(super) network: AgentNetwork,
    /// The moment from which its requests to models are timed.
    pub(super) began: Option<Instant>,
}

/// The end of an agent's process.
#[derive(Debug)]
pub(in crate::trial) struct AgentEnd {
    pub(in crate::trial) ended: Ended,
    pub(in crate::trial) reading: Reading,
    /// Set if its time limit ended it.
    pub(in crate::trial) time_limit: Option<TimeLimit>,
    /// Its requests to models, if they passed through the gateway.
    pub(in crate::trial) wire: Option<Wire>,
    /// The network of a contained agent.
    pub(in crate::trial) network: Option<TrialNetwork>,
    /// It met one of its limits.
    pub(in crate::trial) ran_into_limit: bool,
}

/// The two files that an agent prints to.
struct Outputs {
    stdout: Output,
    stderr: Output,
}

impl AgentProcess {
    /// Runs the agent to its end, and keeps everything that it printed. A judge has no limits.
    pub(in crate::trial) fn run(
        self,
        run: &mut TrialRun<'_>,
        has_limits: bool,
        on_progress: OnProgress<'_>,
    ) -> Result<AgentEnd, StageError> {
        let AgentProcess {
            command,
            decoder,
            attachments,
        } = self;
        let outputs = Outputs {
            stdout: Output::create(&command.dirs.io)?,
            stderr: Output::create(&command.dirs.io)?,
        };
        let job = command.job(&outputs);
        let walls = command.enclosure(run.context);
        let mut attached = attachments::of_command(run, has_limits.then_some(Limited::Agent))?;
        attached.extend(
            attachments
                .into_iter()
                .map(|one| one as Box<dyn Attachment>),
        );
        if let Some(words) = command.network.words() {
            run.log.line(&words)?;
        }
        let mask = &run.context.mask;
        let mut listener = command.listener(decoder, &outputs, mask)?;
        let ended = run.run_job(&job, walls, &mut attached, &mut |log| {
            listener.on_turn(log, on_progress)
        })?;
        run.folder.tidy(&run.dirs)?;
        let (reading, mut transcript, until_limit) = listener.finish(&ended, &mut run.log)?;
        let mut end = CommandEnd {
            run,
            ended,
            session: Some(SessionEnd {
                reading,
                artifacts: command.dirs.artifacts.clone(),
                shown_servers: transcript.servers().clone(),
                records: Vec::new(),
                wire: None,
                network: None,
                ran_into_limit: false,
            }),
        };
        attachments::detach(attached, &mut end)?;
        let ended = end.ended;
        let Some(session) = end.session else {
            return Err(StageError::new(
                ErrorKind::Internal,
                "the session has no end",
            ));
        };
        transcript.add(session.records);
        transcript.close(&mut run.log)?;
        write_end(&mut run.log, &ended, &session.reading)?;
        let limit = command.timeout;
        Ok(AgentEnd {
            ended,
            reading: session.reading,
            // A supervisor that was stopped looks like a limit that is over.
            time_limit: (ended.timed_out && !ended.lost).then_some(TimeLimit {
                limit,
                silence: limit.saturating_sub(until_limit.progress_at),
                tool_was_running: until_limit.is_tool_running,
            }),
            wire: session.wire,
            network: session.network,
            ran_into_limit: session.ran_into_limit,
        })
    }
}

impl AgentCommand {
    /// Begins to listen to the agent, before it starts.
    fn listener<'a>(
        &'a self,
        decoder: Decoder,
        outputs: &'a Outputs,
        mask: &Mask,
    ) -> io::Result<Listener<'a>> {
        let streams = self.profile.streams_events;
        let began = self.began.unwrap_or_else(Instant::now);
        let transcript = Transcript::create(&self.dirs, mask, streams, began)?;
        // A stream of events is in the log step by step.
        let stdout_part = (!streams).then(|| LogPart::new(Stream::Out, Logged::Ends));
        let shows_errors = !streams || !self.profile.logs_to_stderr;
        let stderr_part = shows_errors.then(|| LogPart::new(Stream::Errors, Logged::Ends));
        let artifacts = &self.dirs.artifacts;
        let stdout_file = artifacts.join(if streams { STREAM } else { STDOUT_LOG });
        let stdout_file = KeptFile::create(stdout_file)?;
        let stderr_file = KeptFile::create(artifacts.join(STDERR_LOG))?;
        Ok(Listener::new(
            decoder,
            transcript,
            &self.side_files,
            LiveOutput::open(&outputs.stdout, mask, Some(stdout_file), stdout_part)?,
            LiveOutput::open(&outputs.stderr, mask, Some(stderr_file), stderr_part)?,
            self.timeout,
            mask,
        ))
    }

    fn enclosure(&self, context: &Context) -> Option<Enclosure> {
        let contained = ContainedAgent {
            sandbox: self.sandbox.as_ref(),
            dirs: self.dirs.for_agent(),
            io: &self.dirs.io,
            env: &self.env,
            network: &self.network,
            words: Words {
                program: Some(&self.agent_program),
                others: &self.words,
            },
        };
        contained.enclosure(context)
    }

    fn job(&self, outputs: &Outputs) -> Job {
        Job {
            program: self.program.clone(),
            args: self.args.clone(),
            env: self.env.clone(),
            dir: self.dirs.workspace.clone(),
            stdin: self.stdin.clone(),
            stdout: outputs.stdout.path.clone(),
            stderr: outputs.stderr.path.clone(),
            timeout: self.timeout,
            stop_signal: self.profile.stop_signal,
            grace: GRACE,
            sweep: true,
        }
    }
}

/// Writes how the agent came to its end.
fn write_end(log: &mut RunLog, ended: &Ended, reading: &Reading) -> io::Result<()> {
    let end = match (ended.timed_out, ended.stopped) {
        (true, _) => "out of time".to_owned(),
        (_, true) => "interrupted".to_owned(),
        _ => ended.exit.describe(),
    };
    log.line(&format!("{end} after {}", prose::duration(ended.seconds)))?;
    if let Ending::Failed(error) = &reading.ending {
        log.line(&error.message)?;
    }
    Ok(())
}
