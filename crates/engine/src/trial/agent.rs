//! The second stage: the agent at work.

use std::fs::File;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{Decoder, Ending, Invocation, Launch, Reading, StopSignal};
use terca_core::outcome::{ErrorKind, TrialError};

use super::Stop;
use super::bench::{Bench, GRACE};
use super::listener::{Listener, side_paths};
use super::prepare::Prepared;
use crate::changes::Change;
use crate::diff;
use crate::log::copy_masked;
use crate::supervise::{Ended, Job, Signal};
use crate::tree;

/// What the agent did.
#[derive(Debug)]
pub(super) struct AgentRun {
    pub(super) ended: Ended,
    pub(super) reading: Reading,
    pub(super) changes: Vec<Change>,
    pub(super) notes: Vec<String>,
}

impl AgentRun {
    /// Whether there is work to judge, or an error instead.
    pub(super) fn may_be_judged(&mut self) -> Result<(), Stop> {
        match &self.reading.ending {
            _ if self.ended.stopped => Err(Stop::Interrupted),
            Ending::Completed => Ok(()),
            // Out of time is no error: what was done until then is judged. What kept it waiting may be one.
            Ending::Crashed(_) if self.ended.timed_out => Ok(()),
            Ending::Failed(error) if self.ended.timed_out && error.kind == ErrorKind::Agent => Ok(()),
            Ending::Failed(error) => Err(Stop::Error(error.clone())),
            Ending::Crashed(error) if self.changes.is_empty() => Err(Stop::Error(error.clone())),
            Ending::Crashed(error) => {
                self.notes.push(format!("{}; what it had done was judged", error.message));
                Ok(())
            }
        }
    }

    /// Whether the session came to its end in time.
    pub(super) fn completed(&self) -> bool {
        !self.ended.timed_out && self.reading.ending == Ending::Completed
    }
}

pub(super) fn run_agent(bench: &mut Bench<'_>, prepared: &mut Prepared) -> Result<AgentRun, Stop> {
    let profile = bench.trial.case.variant.agent.agent.profile();
    bench.log.section(&format!("agent: {}", profile.name))?;
    let Some(decoder) = prepared.decoder.take() else {
        return Err(Stop::error(ErrorKind::Internal, "the agent was started twice (a bug in Terca)"));
    };
    let (ended, mut reading) = match &prepared.invocation.launch {
        Launch::Nothing => built_in(decoder),
        Launch::LaySolution => {
            if let Some(solution) = &bench.trial.case.eval.solution {
                tree::lay_over(solution, &bench.room.workspace)?;
            }
            built_in(decoder)
        }
        Launch::Program { args, .. } => {
            let program = prepared.program.clone().unwrap_or_default();
            process(bench, prepared, program, args.clone(), decoder)?
        }
        Launch::Shell(command) => {
            let args = vec!["-c".to_owned(), command.clone()];
            process(bench, prepared, "/bin/sh".into(), args, decoder)?
        }
    };
    let changes = prepared.snapshot.changes(&bench.room.workspace)?;
    diff::write(&changes, &bench.dir.join("changes.diff"), &bench.context.mask)?;
    let notes = std::mem::take(&mut reading.notes);
    Ok(AgentRun { ended, reading, changes, notes })
}

fn built_in(decoder: Box<dyn Decoder>) -> (Ended, Reading) {
    let ended = Ended::without_process(0.0);
    (ended, decoder.finish(ended.exit))
}

fn process(
    bench: &mut Bench<'_>,
    prepared: &Prepared,
    program: Utf8PathBuf,
    args: Vec<String>,
    decoder: Box<dyn Decoder>,
) -> Result<(Ended, Reading), Stop> {
    let (stdout, stderr) = (bench.room.io.join("stdout"), bench.room.io.join("stderr"));
    File::create(&stdout)?;
    File::create(&stderr)?;
    let profile = bench.trial.case.variant.agent.agent.profile();
    let job = Job {
        program,
        args,
        env: prepared.env.clone().into_iter().collect(),
        dir: bench.room.workspace.clone(),
        stdin: prepared.invocation.prompt_on_stdin.then(|| prepared.prompt_file.clone()),
        stdout: stdout.clone(),
        stderr: stderr.clone(),
        timeout: bench.trial.case.timeout,
        stop_signal: match profile.stop_signal {
            StopSignal::Interrupt => Signal::Interrupt,
            StopSignal::Terminate => Signal::Terminate,
        },
        grace: GRACE,
        sweep: true,
    };
    let mut listener = Listener::new(bench, &prepared.invocation.side_files, decoder, &stdout, &stderr)?;
    let (emit, trial) = (bench.emit, bench.trial.id);
    let ended = bench.run(&job, &mut || listener.turn(emit, trial))?;
    let reading = listener.finish(&ended, &mut bench.log)?;
    write_log(bench, &ended, &reading, &stdout, &stderr)?;
    keep_artifacts(bench, &prepared.invocation, &stdout, &stderr)?;
    Ok((ended, reading))
}

/// The agent's output as a person wants to read it: as it is, or by its steps when it is a stream of events.
fn write_log(
    bench: &mut Bench<'_>,
    ended: &Ended,
    reading: &Reading,
    stdout: &Utf8Path,
    stderr: &Utf8Path,
) -> Result<(), Stop> {
    if !bench.trial.case.variant.agent.agent.profile().streams_events {
        bench.log.output(stdout)?;
    }
    bench.log.output(stderr)?;
    let time = terca_core::prose::duration(ended.seconds);
    let how = match (ended.timed_out, ended.stopped) {
        (true, _) => "out of time".to_owned(),
        (_, true) => "interrupted".to_owned(),
        _ => ended.exit.describe(),
    };
    bench.log.line(&format!("{how} after {time}"))?;
    if let Ending::Failed(TrialError { message, .. }) = &reading.ending {
        bench.log.line(message)?;
    }
    Ok(())
}

fn keep_artifacts(
    bench: &Bench<'_>,
    invocation: &Invocation,
    stdout: &Utf8Path,
    stderr: &Utf8Path,
) -> Result<(), Stop> {
    let mask = &bench.context.mask;
    let stream = if bench.trial.case.variant.agent.agent.profile().streams_events {
        "stream.jsonl"
    } else {
        "stdout.log"
    };
    copy_masked(stdout, &bench.artifacts.join(stream), mask)?;
    copy_masked(stderr, &bench.artifacts.join("stderr.log"), mask)?;
    for side in &invocation.side_files {
        for (index, path) in side_paths(side).into_iter().enumerate() {
            let name =
                if index == 0 { side.label.to_owned() } else { format!("{}-{}", index + 1, side.label) };
            copy_masked(&path, &bench.artifacts.join(name), mask)?;
        }
    }
    Ok(())
}
