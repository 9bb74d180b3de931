//! An agent as a process: started, listened to, and its output kept.

use std::io;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use terca_core::agent::{Decoder, Ending, Profile, SideFile};
use terca_core::config::sandbox::Sandbox;
use terca_core::text::mask::Mask;
use terca_core::text::prose;

use super::last_words::STDOUT_LOG;
use super::listener::{Listener, OnProgress};
use super::transcript::Transcript;
use crate::host::environment::Variables;
use crate::process::output_file::Output;
use crate::process::supervise::{Enclosure, Job};
use crate::sandbox::Words;
use crate::trial::agent_request::AgentDirs;
use crate::trial::attachments::network::AgentNetwork;
use crate::trial::attachments::{self, AgentEnd, Attachment, Attachments, CommandEnd, Limited};
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
    /// Everything between it and the world.
    pub(super) attachments: Attachments<'static>,
}

/// The two files that an agent prints to.
struct Outputs {
    stdout: Output,
    stderr: Output,
}

impl AgentProcess {
    /// Runs the agent to its end, and keeps everything that it printed. A judge has no limits.
    pub(in crate::trial) fn run(
        mut self,
        decoder: Decoder,
        run: &mut TrialRun<'_>,
        has_limits: bool,
        on_progress: OnProgress<'_>,
    ) -> Result<AgentEnd, StageError> {
        let outputs = Outputs {
            stdout: Output::create(&self.dirs.io)?,
            stderr: Output::create(&self.dirs.io)?,
        };
        let job = self.job(&outputs);
        let walls = self.enclosure(run.context);
        let mut attached = attachments::of_command(run, has_limits.then_some(Limited::Agent))?;
        attached.extend(
            std::mem::take(&mut self.attachments)
                .into_iter()
                .map(|one| one as Box<dyn Attachment>),
        );
        if let Some(words) = self.network.words() {
            run.log.line(&words)?;
        }
        let mask = &run.context.mask;
        let mut listener = self.listener(decoder, &outputs, mask)?;
        let ended = run.run_job(job, walls, &mut attached, &mut |log| {
            listener.on_turn(log, on_progress)
        })?;
        run.folder.tidy(&run.dirs)?;
        let (reading, mut transcript, time_limit) = listener.finish(&ended, &mut run.log)?;
        let mut session = AgentEnd::new(ended, reading);
        session.artifacts.clone_from(&self.dirs.artifacts);
        session.shown_servers.clone_from(transcript.servers());
        // A supervisor that was stopped looks like a limit that is over.
        session.time_limit = (ended.timed_out && !ended.lost).then_some(time_limit);
        let mut end = CommandEnd {
            run,
            ended,
            session: Some(&mut session),
        };
        attachments::detach(attached, &mut end)?;
        session.ended = end.ended;
        transcript.add(std::mem::take(&mut session.records));
        transcript.close(&mut run.log)?;
        write_end(&mut run.log, &session)?;
        Ok(session)
    }

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
            fixed_root: self.dirs.fixed_root.as_ref(),
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
            fixed_root: self.dirs.fixed_root.clone(),
        }
    }
}

/// Writes how the agent came to its end.
fn write_end(log: &mut RunLog, session: &AgentEnd) -> io::Result<()> {
    let AgentEnd { ended, reading, .. } = session;
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
