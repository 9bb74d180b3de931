//! The second stage: the agent at work.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{Ending, Launch, Reading};
use terca_core::run::event::EventKind;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use super::bench::Bench;
use super::conduct::Conduct;
use super::prepare::Prepared;
use super::process::{self, Start};
use super::{Stop, cheat, rounded, solution};
use crate::host::credentials;
use crate::process::supervise::Ended;
use crate::workspace::changes::Changes;
use crate::workspace::diff;
use crate::workspace::tree;

/// What the agent did.
#[derive(Debug)]
pub(super) struct AgentRun {
    pub(super) ended: Ended,
    pub(super) reading: Reading,
    pub(super) changes: Changes,
    /// It was the eval's own solution.
    pub(super) is_reference: bool,
    /// Remarks that change no verdict.
    pub(super) notes: Vec<String>,
}

impl AgentRun {
    /// Whether there is work to judge, or an error instead.
    pub(super) fn may_be_judged(&self) -> Result<(), Stop> {
        match &self.reading.ending {
            _ if self.ended.stopped => Err(Stop::Interrupted),
            Ending::Completed => Ok(()),
            // Out of time is no error: what was done until then is judged. What kept it waiting may be one.
            Ending::Crashed(_) if self.ended.timed_out => Ok(()),
            Ending::Failed(error) if self.ended.timed_out && error.kind == ErrorKind::Agent => {
                Ok(())
            }
            Ending::Crashed(_) if !self.changes.are_none() => Ok(()),
            Ending::Crashed(error) | Ending::Failed(error) => Err(Stop::Error(error.clone())),
        }
    }

    /// What the tests are to know of it.
    pub(super) fn conduct(&self) -> Conduct {
        Conduct {
            completed: self.completed(),
            is_reference: self.is_reference,
            changed: self.changes.paths(),
            usage: self.reading.usage,
            seconds: rounded(self.ended.seconds),
        }
    }

    /// Whether the session came to its end in time.
    fn completed(&self) -> bool {
        !self.ended.timed_out && self.reading.ending == Ending::Completed
    }
}

pub(super) fn run_agent(bench: &mut Bench<'_>, prepared: Prepared) -> Result<AgentRun, Stop> {
    let profile = bench.trial.case.variant.agent.agent.profile();
    bench.log.section(&format!("agent: {}", profile.name))?;
    let Prepared {
        invocation,
        decoder,
        env,
        program,
        snapshot,
        ..
    } = prepared;
    let litter = litter(bench);
    let credentials = credentials::given(&bench.context.host, profile, &env);
    let mut failed_solution = None;
    let (ended, mut reading) = match &invocation.launch {
        Launch::Nothing | Launch::LaySolution | Launch::Cheat => {
            match &invocation.launch {
                Launch::LaySolution => failed_solution = solution::lay(bench)?,
                Launch::Cheat => cheat::cheat(bench)?,
                _ => {}
            }
            // What set-up has left running ends here too, so that tests find what they find after any agent.
            let left_behind = bench.supervisor.sweep()?;
            let ended = Ended::without_process(left_behind);
            (ended, decoder.finish(ended.exit))
        }
        Launch::Program { .. } | Launch::Shell(_) => {
            let timeout = bench.trial.case.timeout;
            let seat = bench.seat();
            let start = Start {
                profile,
                seat: &seat,
                invocation: &invocation,
                decoder,
                program,
                env,
                timeout,
            };
            let (emit, trial) = (bench.emit, bench.trial.id);
            let tell = |doing: String, usage| {
                emit(EventKind::Progress {
                    trial,
                    doing,
                    usage,
                })
            };
            process::run(bench, start, &tell)?
        }
    };
    let mut notes = std::mem::take(&mut reading.notes);
    notes.extend(failed_solution);
    if let Ending::Failed(error) | Ending::Crashed(error) = &reading.ending
        && error.kind == ErrorKind::Auth
    {
        // The agent's own advice (`/login`) does not help here: its home is that of the trial.
        notes.push(credentials);
    }
    notes.extend(restore(&bench.room.workspace)?);
    for dir in litter.iter().filter(|path| path.is_dir()) {
        tree::remove(dir)?;
    }
    let changes = snapshot.changes(&bench.room.workspace, bench.trial.case.suite.track_ignored)?;
    diff::write(
        &changes.seen,
        changes.ignored,
        &bench.dir.join("changes.diff"),
        &bench.context.mask,
    )?;
    if let Ending::Crashed(error) = &reading.ending
        && !changes.are_none()
    {
        notes.push(format!("{}; what it had done was judged", error.message));
    }
    if ended.left_behind > 0 {
        let count = prose::count(ended.left_behind, "process");
        notes.push(format!(
            "{count} could not be ended: they belong to another user"
        ));
    }
    let is_reference = invocation.launch == Launch::LaySolution;
    Ok(AgentRun {
        ended,
        reading,
        changes,
        is_reference,
        notes,
    })
}

/// Where the agent will put what is none of its work. What is already there is not its own.
fn litter(bench: &Bench<'_>) -> Vec<Utf8PathBuf> {
    let names = bench.trial.case.variant.agent.agent.litter();
    let places = names.iter().map(|name| bench.room.workspace.join(name));
    places
        .filter(|path| path.symlink_metadata().is_err())
        .collect()
}

/// Whatever the agent did to the directory it worked in, there is one to look at, and it can be read.
fn restore(workspace: &Utf8Path) -> io::Result<Option<String>> {
    let note = match workspace.symlink_metadata() {
        Ok(meta) if meta.is_dir() => None,
        Ok(_) => {
            fs_err::remove_file(workspace)?;
            Some("the agent had put something else in the place of its workspace".to_owned())
        }
        Err(_) => Some("the agent had removed its workspace".to_owned()),
    };
    if note.is_some() {
        fs_err::create_dir(workspace)?;
    }
    tree::make_readable(workspace.as_std_path())?;
    Ok(note)
}
