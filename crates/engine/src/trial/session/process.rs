//! An agent as a process: started, listened to, and its output kept.

use std::io;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{Decoder, Ending, Profile, Reading, SideFile, StopSignal, TimeLimit};
use terca_core::config::sandbox::Sandbox;
use terca_core::network::TrialNetwork;
use terca_core::sought::Sought;
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::trial_error::TrialError;
use terca_core::wire::{Exchange, Wire};
use terca_gateway::Passage;

use super::agent_dirs::AgentDirs;
use super::last_words::STDOUT_LOG;
use super::listener::{Listener, OnProgress, open_side_file, side_paths};
use super::mcp_tap::{self, Taps};
use super::recording_file::RecordingFile;
use super::transcript::Transcript;
use super::{own_artifacts, replayed};
use crate::host::environment::Variables;
use crate::process::output_file::Output;
use crate::process::supervise::{Enclosure, Ended, Job, Signal, Turn};
use crate::sandbox::Words;
use crate::tree::Limits;
use crate::trial::attachments::{self, Limited};
use crate::trial::command::GRACE;
use crate::trial::containment::ContainedAgent;
use crate::trial::context::Context;
use crate::trial::cost::add_cost;
use crate::trial::gateway::{WIRE_LOG, add_wire};
use crate::trial::log::{RunLog, Stream};
use crate::trial::network::AgentNetwork;
use crate::trial::output::{KeptFile, LiveOutput, LogPart, Logged, copy_masked};
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
    pub(super) decoder: Box<dyn Decoder>,
    pub(super) timeout: Duration,
    pub(super) sandbox: Option<Sandbox>,
    /// The words of its command and its MCP servers that may name files.
    pub(super) words: Vec<String>,
    pub(super) network: AgentNetwork,
    /// The model that it is asked to use.
    pub(super) model: Option<String>,
    /// Its way to its models, if it leads through the gateway.
    pub(super) passage: Option<Passage>,
    /// The recording of its exchanges, if there is one.
    pub(super) recording_file: Option<RecordingFile>,
    /// The parts of the variant that are looked for in its requests.
    pub(super) sought: Vec<Sought>,
    /// The taps of its MCP servers.
    pub(super) taps: Taps,
}

/// The end of an agent's process.
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
        let outputs = Outputs {
            stdout: Output::create(&self.dirs.io)?,
            stderr: Output::create(&self.dirs.io)?,
        };
        let job = self.job(&outputs);
        let enclosure = self.enclosure(run.context);
        let is_contained = enclosure.is_some();
        let mut attached = attachments::of_command(run, has_limits.then_some(Limited::Agent))?;
        let limit = self.timeout;
        let AgentProcess {
            profile,
            dirs,
            side_files,
            decoder,
            network,
            passage,
            recording_file,
            model,
            sought,
            taps,
            ..
        } = self;
        if let Some(words) = network.words() {
            run.log.line(&words)?;
        }
        let mask = &run.context.mask;
        // Steps and requests to models are timed from the same moment.
        let began = passage.as_ref().map_or_else(Instant::now, Passage::opened);
        let streams = profile.streams_events;
        let transcript = Transcript::create(&dirs, mask, streams, began)?;
        // A stream of events is in the log step by step.
        let stdout_part = (!streams).then(|| LogPart::new(Stream::Out, Logged::Ends));
        let shows_errors = !streams || !profile.logs_to_stderr;
        let stderr_part = shows_errors.then(|| LogPart::new(Stream::Errors, Logged::Ends));
        let stdout_file = dirs
            .artifacts
            .join(if streams { STREAM } else { STDOUT_LOG });
        let stdout_file = KeptFile::create(stdout_file)?;
        let stderr_file = KeptFile::create(dirs.artifacts.join(STDERR_LOG))?;
        let mut listener = Listener::new(
            decoder,
            transcript,
            &side_files,
            LiveOutput::open(&outputs.stdout, mask, Some(stdout_file), stdout_part)?,
            LiveOutput::open(&outputs.stderr, mask, Some(stderr_file), stderr_part)?,
            limit,
            mask,
        );
        let ended = run.run_job(&job, enclosure, &mut attached, &mut |log| {
            let turn = listener.on_turn(log, on_progress);
            if passage.as_ref().is_some_and(Passage::has_diverged) {
                return Turn::Stop;
            }
            turn
        })?;
        let mut ended = attachments::detach(attached, run, ended)?;
        let limits_met = std::mem::take(&mut run.limits_met);
        let closed = passage.map(Passage::finish);
        let tapped = taps.close();
        run.folder.tidy(&run.dirs)?;
        let mut output = listener.finish(&ended, &tapped, &mut run.log)?;
        if let Some(recording) = recording_file {
            output.reading.notes.extend(recording.keep()?);
        }
        let mut played = None;
        let exchanges = closed.map(|closed| {
            output.reading.notes.extend(closed.notes);
            played = closed.played;
            closed.exchanges
        });
        let diverged = played
            .as_ref()
            .and_then(|played| replayed::error(run.context, played));
        if let Some(error) = diverged {
            stopped_at_once(&mut ended, &mut output.reading, error);
        } else if let Some(error) = output.lost.take()
            && ended.stopped
            && !run.context.interrupt.is_stop()
        {
            stopped_at_once(&mut ended, &mut output.reading, error);
        }
        let prices = &run.spec.case.suite.prices;
        let is_whole =
            output.reading.ending == Ending::Completed && !ended.timed_out && !ended.lost;
        let wire = exchanges.as_deref().map(|exchanges| {
            let mut wire = Wire::of(exchanges, replayed::cost(prices, exchanges));
            wire.look_for(&sought, exchanges);
            wire
        });
        if let (Some(wire), Some(exchanges)) = (&wire, &exchanges) {
            add_wire(wire, is_whole, &mut output.reading);
            keep_exchanges(exchanges, &dirs.artifacts, mask)?;
        }
        let reading = &mut output.reading;
        if let (Some(played), Some(wire)) = (&played, &wire) {
            replayed::add(played, wire, reading);
        } else {
            add_cost(prices, wire.as_ref(), model.as_deref(), is_whole, reading);
        }
        mcp_tap::keep(&tapped, &dirs.artifacts, mask)?;
        mcp_tap::add(tapped, profile.hides_servers, &mut output.reading);
        write_end(&mut run.log, &ended, &output.reading)?;
        let ran_into_limit = !limits_met.is_empty();
        output.reading.notes.extend(limits_met);
        let network = network.report(is_contained);
        if let Some(note) = network.as_ref().and_then(TrialNetwork::note) {
            run.log.line(&note)?;
            output.reading.notes.push(note);
        }
        keep_side_files(&dirs.artifacts, mask, &side_files)?;
        if profile.takes_command {
            let options = run.context.own_tree(Limits::default());
            let remark = own_artifacts::keep(&dirs, mask, &options);
            output.reading.notes.extend(remark);
        }
        Ok(AgentEnd {
            ended,
            reading: output.reading,
            // A supervisor that was stopped looks like a limit that is over.
            time_limit: (ended.timed_out && !ended.lost).then_some(TimeLimit {
                limit,
                silence: limit.saturating_sub(output.until_limit.progress_at),
                tool_was_running: output.until_limit.is_tool_running,
            }),
            wire,
            network,
            ran_into_limit,
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

/// Makes the end of an agent that Terca has stopped, because its session was lost, an error of its session. The adapter may know
/// more about the reason.
fn stopped_at_once(ended: &mut Ended, reading: &mut Reading, error: TrialError) {
    ended.stopped = false;
    reading
        .notes
        .push("the agent was stopped at once: the trial could not be judged any more".to_owned());
    let knows_more = matches!(&reading.ending, Ending::Failed(known) if known.kind == error.kind);
    if !knows_more {
        reading.ending = Ending::Failed(error);
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

/// Writes a line for each request to a model.
fn keep_exchanges(exchanges: &[Exchange], artifacts: &Utf8Path, mask: &Mask) -> io::Result<()> {
    let mut lines = String::new();
    for exchange in exchanges {
        lines.push_str(&serde_json::to_string(exchange)?);
        lines.push('\n');
    }
    fs_err::write(artifacts.join(WIRE_LOG), mask.text(&lines))
}

fn keep_side_files(artifacts: &Utf8Path, mask: &Mask, side_files: &[SideFile]) -> io::Result<()> {
    for side in side_files {
        for (index, path) in side_paths(side).into_iter().enumerate() {
            let name = if index == 0 {
                side.label.to_owned()
            } else {
                format!("{}-{}", index + 1, side.label)
            };
            // The agent may have made it unreadable, which is no reason not to judge its work.
            if let Ok(file) = open_side_file(side, &path) {
                let mut copy = fs_err::File::create(artifacts.join(name))?;
                copy_masked(&file, &mut copy, mask)?;
            }
        }
    }
    Ok(())
}
