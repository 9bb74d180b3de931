//! An agent as a process: started, listened to, and its output kept.

use std::io;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{Decoder, Ending, Profile, Reading, SideFile, StopSignal, TimeLimit};
use terca_core::config::sandbox::Sandbox;
use terca_core::network::TrialNetwork;
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;
use terca_core::wire::Wire;

use super::last_words::STDOUT_LOG;
use super::listener::{Listener, LiveTail, OnProgress, PrintedOutput};
use super::transcript::Transcript;
use crate::host::environment::Variables;
use crate::process::output_file::{Output, new_file};
use crate::process::supervise::{Enclosure, Ended, Job, Signal};
use crate::process::tail::Tail;
use crate::sandbox::Words;
use crate::tree::WithoutHoles;
use crate::trial::agent_request::AgentDirs;
use crate::trial::attachments::network::AgentNetwork;
use crate::trial::attachments::{self, Attachment, Attachments, CommandEnd, Limited, SessionEnd};
use crate::trial::command::GRACE;
use crate::trial::containment::ContainedAgent;
use crate::trial::context::Context;
use crate::trial::live::{LiveOutput, LogPart, LogPartWriter};
use crate::trial::log::{RunLog, Stream};
use crate::trial::masking::{find_pieces, write_edited};
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;

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
    pub(super) decoder: Box<dyn Decoder>,
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

/// The two files as they are kept, without secrets.
struct KeptOutputs {
    stdout: Utf8PathBuf,
    stderr: Utf8PathBuf,
}

impl AgentProcess {
    /// Runs the agent to its end, and keeps everything that it printed. A judge has no limits.
    pub(in crate::trial) fn run(
        self,
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
            self.attachments
                .into_iter()
                .map(|one| one as Box<dyn Attachment>),
        );
        if let Some(words) = self.network.words() {
            run.log.line(&words)?;
        }
        let (profile, limit, mask) = (self.profile, self.timeout, &run.context.mask);
        let kept = KeptOutputs::new(&self.dirs.artifacts, profile);
        let length_before = run.log.length()?;
        let began = self.began.unwrap_or_else(Instant::now);
        let streams = profile.streams_events;
        let transcript = Transcript::create(&self.dirs, mask, streams, began, &mut run.log)?;
        // A stream of events is in the log step by step.
        let stdout_part = (!profile.streams_events).then(|| LogPart::ends(Stream::Out, mask));
        // Of such an agent the steps come first, and what it complains about follows at the end.
        let stderr_part = (!profile.streams_events).then(|| LogPart::ends(Stream::Errors, mask));
        let mut listener = Listener::new(
            self.decoder,
            transcript,
            &self.side_files,
            LiveTail {
                tail: Tail::open(&outputs.stdout.path, mask)?,
                live: LiveOutput::new(mask, Some(new_file(&kept.stdout)?), stdout_part),
            },
            LiveTail {
                tail: Tail::open(&outputs.stderr.path, mask)?,
                live: LiveOutput::new(mask, Some(new_file(&kept.stderr)?), stderr_part),
            },
            limit,
            mask,
        );
        let ended = run.run_job(&job, walls, &mut attached, &mut |log| {
            listener.on_turn(log, on_progress)
        })?;
        run.folder.tidy(&run.dirs)?;
        let output = listener.finish(&ended, &mut run.log)?;
        keep_output(&outputs.stdout, output.stdout, &kept.stdout, mask)?;
        keep_output(&outputs.stderr, output.stderr, &kept.stderr, mask)?;
        let has_pieces = output.stdout.has_pieces || output.stderr.has_pieces;
        if !profile.streams_events && has_pieces {
            run.log.take_back(length_before)?;
            copy_to_log(&kept.stdout, Stream::Out, &mut run.log, mask)?;
        }
        if !profile.logs_to_stderr && (profile.streams_events || has_pieces) {
            copy_to_log(&kept.stderr, Stream::Errors, &mut run.log, mask)?;
        }
        let mut transcript = output.transcript;
        let mut end = CommandEnd {
            run,
            ended,
            session: Some(SessionEnd::new(
                output.reading,
                self.dirs.artifacts,
                transcript.servers().clone(),
            )),
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
        Ok(AgentEnd {
            ended,
            reading: session.reading,
            // A supervisor that was stopped looks like a limit that is over.
            time_limit: (ended.timed_out && !ended.lost).then_some(TimeLimit {
                limit,
                silence: limit.saturating_sub(output.until_limit.progress_at),
                tool_was_running: output.until_limit.is_tool_running,
            }),
            wire: session.wire,
            network: session.network,
            ran_into_limit: session.ran_into_limit,
        })
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
            env: self.env.clone().into_iter().collect(),
            dir: self.dirs.workspace.clone(),
            stdin: self.stdin.clone(),
            stdout: outputs.stdout.path.clone(),
            stderr: outputs.stderr.path.clone(),
            timeout: self.timeout,
            stop_signal: match self.profile.stop_signal {
                StopSignal::Interrupt => Signal::Interrupt,
                StopSignal::Terminate => Signal::Terminate,
            },
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

/// Copies an output that is kept, and so has no secrets, to the log.
fn copy_to_log(kept: &Utf8Path, stream: Stream, log: &mut RunLog, mask: &Mask) -> io::Result<()> {
    let mut writer = LogPartWriter::new(LogPart::ends(stream, mask), log);
    io::copy(&mut fs_err::File::open(kept)?, &mut writer)?;
    writer.finish()
}

impl KeptOutputs {
    fn new(artifacts: &Utf8Path, profile: &Profile) -> Self {
        let stdout = if profile.streams_events {
            "stream.jsonl"
        } else {
            STDOUT_LOG
        };
        KeptOutputs {
            stdout: artifacts.join(stdout),
            stderr: artifacts.join("stderr.log"),
        }
    }
}

/// Keeps a file of output, in the place of the one that was written while it came in. One that was read to its end and
/// has no secret in it is moved; any other is copied and searched again.
fn keep_output(
    output: &Output,
    printed: PrintedOutput,
    place: &Utf8Path,
    mask: &Mask,
) -> io::Result<()> {
    let has_secrets = printed.seen.secrets || printed.has_pieces;
    if !has_secrets && output.move_to(place, printed.seen.bytes)? {
        return Ok(());
    }
    let pieces = find_pieces(output.rewound()?, mask)?;
    let new = Utf8PathBuf::from(format!("{place}.new"));
    let mut kept = new_file(&new)?;
    write_edited(WithoutHoles(output.rewound()?), pieces, &mut kept, mask)?;
    fs_err::rename(&new, place)
}
