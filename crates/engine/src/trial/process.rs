//! The agent as a process: started, listened to, and what it printed kept.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{Decoder, Ending, Invocation, Reading, Stdin, StopSignal};
use terca_core::mask::Mask;
use terca_core::prose;

use super::Stop;
use super::bench::{Bench, GRACE};
use super::listener::{Heard, Listener, side_paths};
use crate::environment::Variables;
use crate::log::copy_masked;
use crate::output::Output;
use crate::supervise::{Ended, Job, Signal};
use crate::tail::Seen;

/// What is to be started.
pub(super) struct Start {
    pub(super) program: Utf8PathBuf,
    pub(super) args: Vec<String>,
    pub(super) env: Variables,
    pub(super) prompt_file: Utf8PathBuf,
}

pub(super) fn run(
    bench: &mut Bench<'_>,
    invocation: &Invocation,
    start: Start,
    decoder: Box<dyn Decoder>,
) -> Result<(Ended, Reading), Stop> {
    let (stdout, stderr) = (Output::create(&bench.room.io)?, Output::create(&bench.room.io)?);
    let profile = bench.trial.case.variant.agent.agent.profile();
    let job = Job {
        program: start.program,
        args: start.args,
        env: start.env.into_iter().collect(),
        dir: bench.room.workspace.clone(),
        stdin: match invocation.stdin {
            Stdin::Empty => None,
            Stdin::Prompt => Some(start.prompt_file),
            Stdin::Text(_) => Some(bench.room.io.join("stdin.txt")),
        },
        stdout: stdout.path.clone(),
        stderr: stderr.path.clone(),
        timeout: bench.trial.case.timeout,
        stop_signal: match profile.stop_signal {
            StopSignal::Interrupt => Signal::Interrupt,
            StopSignal::Terminate => Signal::Terminate,
        },
        grace: GRACE,
        sweep: true,
    };
    let mut listener = Listener::new(bench, &invocation.side_files, decoder, &stdout, &stderr)?;
    let (emit, trial) = (bench.emit, bench.trial.id);
    let ended = bench.run(&job, &mut || listener.turn(emit, trial))?;
    let heard = listener.finish(&ended, &mut bench.log)?;
    write_log(bench, &ended, &heard.reading, &stdout, &stderr)?;
    keep_artifacts(bench, invocation, &heard, &stdout, &stderr)?;
    Ok((ended, heard.reading))
}

/// The agent's output as a person wants to read it: as it is, or by its steps when it is a stream of events.
fn write_log(
    bench: &mut Bench<'_>,
    ended: &Ended,
    reading: &Reading,
    stdout: &Output,
    stderr: &Output,
) -> Result<(), Stop> {
    if !bench.trial.case.variant.agent.agent.profile().streams_events {
        bench.log.output(stdout.rewound()?)?;
    }
    bench.log.output(stderr.rewound()?)?;
    let how = match (ended.timed_out, ended.stopped) {
        (true, _) => "out of time".to_owned(),
        (_, true) => "interrupted".to_owned(),
        _ => ended.exit.describe(),
    };
    bench.log.line(&format!("{how} after {}", prose::duration(ended.seconds)))?;
    if let Ending::Failed(error) = &reading.ending {
        bench.log.line(&error.message)?;
    }
    Ok(())
}

fn keep_artifacts(
    bench: &Bench<'_>,
    invocation: &Invocation,
    heard: &Heard,
    stdout: &Output,
    stderr: &Output,
) -> Result<(), Stop> {
    let (mask, artifacts) = (&bench.context.mask, &bench.artifacts);
    let streams = bench.trial.case.variant.agent.agent.profile().streams_events;
    let stream = if streams { "stream.jsonl" } else { "stdout.log" };
    keep_output(stdout, heard.stdout, &artifacts.join(stream), mask)?;
    keep_output(stderr, heard.stderr, &artifacts.join("stderr.log"), mask)?;
    for side in &invocation.side_files {
        for (index, path) in side_paths(side).into_iter().enumerate() {
            let name =
                if index == 0 { side.label.to_owned() } else { format!("{}-{}", index + 1, side.label) };
            copy_masked(fs_err::File::open(path)?, &artifacts.join(name), mask)?;
        }
    }
    Ok(())
}

/// What was read and has no secret in it is kept as it is; anything else is copied, and searched again.
fn keep_output(output: &Output, seen: Seen, place: &Utf8Path, mask: &Mask) -> io::Result<()> {
    if !seen.secrets && output.move_to(place, seen.bytes)? {
        return Ok(());
    }
    copy_masked(output.rewound()?, place, mask)
}
