//! The agent as a process: started, listened to, and what it printed kept.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{Decoder, Ending, Invocation, Launch, Profile, Reading, Stdin, StopSignal};
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use super::Stop;
use super::bench::{Bench, GRACE};
use super::listener::{Heard, Listener, Tell, side_paths};
use super::session::Seat;
use crate::host::environment::Variables;
use crate::process::output_file::Output;
use crate::process::supervise::{Ended, Job, Signal};
use crate::process::tail::Seen;
use crate::trial::log::copy_masked;

/// What is to be started, and where.
pub(super) struct Start<'a> {
    pub(super) profile: &'static Profile,
    pub(super) seat: &'a Seat,
    pub(super) invocation: &'a Invocation,
    pub(super) decoder: Box<dyn Decoder>,
    /// The agent's program, where it is one.
    pub(super) program: Option<Utf8PathBuf>,
    pub(super) env: Variables,
    pub(super) timeout: Duration,
}

pub(super) fn run(
    bench: &mut Bench<'_>,
    start: Start<'_>,
    tell: Tell<'_>,
) -> Result<(Ended, Reading), Stop> {
    let Start {
        profile,
        seat,
        invocation,
        decoder,
        program,
        env,
        timeout,
    } = start;
    let (stdout, stderr) = (Output::create(&seat.io)?, Output::create(&seat.io)?);
    let (program, args) = match &invocation.launch {
        Launch::Program { args, .. } => (program.unwrap_or_default(), args.clone()),
        Launch::Shell(command) => ("/bin/sh".into(), vec!["-c".to_owned(), command.clone()]),
        Launch::LaySolution | Launch::Cheat | Launch::Nothing => {
            let message = format!("`{}` is no program (a bug in Terca)", profile.name);
            return Err(Stop::error(ErrorKind::Internal, message));
        }
    };
    let job = Job {
        program,
        args,
        env: env.into_iter().collect(),
        dir: seat.workspace.clone(),
        stdin: match invocation.stdin {
            Stdin::Empty => None,
            Stdin::Prompt => Some(seat.prompt_file()),
            Stdin::Text(_) => Some(seat.stdin_file()),
        },
        stdout: stdout.path.clone(),
        stderr: stderr.path.clone(),
        timeout,
        stop_signal: match profile.stop_signal {
            StopSignal::Interrupt => Signal::Interrupt,
            StopSignal::Terminate => Signal::Terminate,
        },
        grace: GRACE,
        sweep: true,
    };
    let (mask, streams) = (&bench.context.mask, profile.streams_events);
    let sides = &invocation.side_files;
    let mut listener = Listener::new(seat, mask, sides, decoder, streams, [&stdout, &stderr])?;
    let ended = bench.run(&job, &mut || listener.turn(tell))?;
    let heard = listener.finish(&ended, &mut bench.log)?;
    write_log(bench, profile, &ended, &heard.reading, [&stdout, &stderr])?;
    keep_artifacts(seat, mask, profile, invocation, &heard, [&stdout, &stderr])?;
    Ok((ended, heard.reading))
}

/// The agent's output as a person wants to read it: as it is, or by its steps when it is a stream of events.
fn write_log(
    bench: &mut Bench<'_>,
    profile: &Profile,
    ended: &Ended,
    reading: &Reading,
    [stdout, stderr]: [&Output; 2],
) -> Result<(), Stop> {
    if !profile.streams_events {
        bench.log.output(stdout.rewound()?)?;
    }
    bench.log.output(stderr.rewound()?)?;
    let how = match (ended.timed_out, ended.stopped) {
        (true, _) => "out of time".to_owned(),
        (_, true) => "interrupted".to_owned(),
        _ => ended.exit.describe(),
    };
    bench
        .log
        .line(&format!("{how} after {}", prose::duration(ended.seconds)))?;
    if let Ending::Failed(error) = &reading.ending {
        bench.log.line(&error.message)?;
    }
    Ok(())
}

fn keep_artifacts(
    seat: &Seat,
    mask: &Mask,
    profile: &Profile,
    invocation: &Invocation,
    heard: &Heard,
    [stdout, stderr]: [&Output; 2],
) -> Result<(), Stop> {
    let artifacts = &seat.artifacts;
    let stream = if profile.streams_events {
        "stream.jsonl"
    } else {
        "stdout.log"
    };
    keep_output(stdout, heard.stdout, &artifacts.join(stream), mask)?;
    keep_output(stderr, heard.stderr, &artifacts.join("stderr.log"), mask)?;
    for side in &invocation.side_files {
        for (index, path) in side_paths(side).into_iter().enumerate() {
            let name = if index == 0 {
                side.label.to_owned()
            } else {
                format!("{}-{}", index + 1, side.label)
            };
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
