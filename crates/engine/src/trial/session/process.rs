//! An agent as a process: started, listened to, and its output kept.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{Decoder, Ending, Profile, Reading, SideFile, StopSignal};
use terca_core::text::mask::Mask;
use terca_core::text::prose;

use super::agent_dirs::AgentDirs;
use super::last_words::STDOUT_LOG;
use super::listener::{AgentOutput, Listener, OnProgress, open_side_file, side_paths};
use super::own_artifacts;
use super::transcript::Transcript;
use crate::host::environment::Variables;
use crate::process::output_file::Output;
use crate::process::supervise::{Ended, Job, Signal};
use crate::process::tail::{Seen, Tail};
use crate::tree::{Limits, WithoutHoles};
use crate::trial::log::RunLog;
use crate::trial::masking::{copy_masked, find_pieces, write_edited};
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::{GRACE, TrialRun};

/// An agent's process that is ready to start.
pub(in crate::trial) struct AgentProcess {
    pub(super) profile: &'static Profile,
    pub(super) dirs: AgentDirs,
    pub(super) program: Utf8PathBuf,
    pub(super) args: Vec<String>,
    pub(super) env: Variables,
    /// The file that it reads; `None` is an empty input.
    pub(super) stdin: Option<Utf8PathBuf>,
    /// Files that it leaves behind and that say more than its output does.
    pub(super) side_files: Vec<SideFile>,
    pub(super) decoder: Box<dyn Decoder>,
    pub(super) timeout: Duration,
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
    /// Runs the agent to its end, and keeps everything that it printed.
    pub(in crate::trial) fn run(
        self,
        run: &mut TrialRun<'_>,
        on_progress: OnProgress<'_>,
    ) -> Result<(Ended, Reading), StageError> {
        let outputs = Outputs {
            stdout: Output::create(&self.dirs.io)?,
            stderr: Output::create(&self.dirs.io)?,
        };
        let job = self.job(&outputs);
        let AgentProcess {
            profile,
            dirs,
            side_files,
            decoder,
            ..
        } = self;
        let mask = &run.context.mask;
        let transcript = Transcript::create(&dirs, mask, profile.streams_events)?;
        let mut listener = Listener::new(
            decoder,
            transcript,
            &side_files,
            Tail::open(&outputs.stdout.path, mask)?,
            Tail::open(&outputs.stderr.path, mask)?,
            mask,
        );
        let ended = run.run_job(&job, &mut || listener.on_turn(on_progress))?;
        run.tidy_folder()?;
        let output = listener.finish(&ended, &mut run.log)?;
        let kept = keep_outputs(&dirs.artifacts, mask, profile, &output, &outputs)?;
        write_log(&mut run.log, profile, &ended, &output.reading, &kept)?;
        keep_side_files(&dirs.artifacts, mask, &side_files)?;
        let mut reading = output.reading;
        if profile.takes_command {
            let options = run.context.own_tree(Limits::default());
            let remark = own_artifacts::keep(&dirs, mask, &options);
            reading.notes.extend(remark);
        }
        Ok((ended, reading))
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

/// Writes the output for a person to read. A stream of events is in the log already, step by step.
fn write_log(
    log: &mut RunLog,
    profile: &Profile,
    ended: &Ended,
    reading: &Reading,
    kept: &KeptOutputs,
) -> io::Result<()> {
    if !profile.streams_events {
        log.output(fs_err::File::open(&kept.stdout)?.file())?;
    }
    log.output(fs_err::File::open(&kept.stderr)?.file())?;
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

fn keep_outputs(
    artifacts: &Utf8Path,
    mask: &Mask,
    profile: &Profile,
    output: &AgentOutput,
    outputs: &Outputs,
) -> io::Result<KeptOutputs> {
    let stdout = if profile.streams_events {
        "stream.jsonl"
    } else {
        STDOUT_LOG
    };
    let kept = KeptOutputs {
        stdout: artifacts.join(stdout),
        stderr: artifacts.join("stderr.log"),
    };
    keep_output(&outputs.stdout, output.stdout, &kept.stdout, mask)?;
    keep_output(&outputs.stderr, output.stderr, &kept.stderr, mask)?;
    Ok(kept)
}

/// Keeps a file of output. One that was read to its end and has no secret in it is moved; any other is copied and
/// searched again.
fn keep_output(output: &Output, seen: Seen, place: &Utf8Path, mask: &Mask) -> io::Result<()> {
    let pieces = find_pieces(output.rewound()?, mask)?;
    if !seen.secrets && pieces.is_empty() && output.move_to(place, seen.bytes)? {
        return Ok(());
    }
    let mut kept = fs_err::File::create(place)?.into_parts().0;
    write_edited(WithoutHoles(output.rewound()?), pieces, &mut kept, mask)
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
                copy_masked(&file, &artifacts.join(name), mask)?;
            }
        }
    }
    Ok(())
}
