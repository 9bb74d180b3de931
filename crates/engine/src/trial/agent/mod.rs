//! The second stage: the agent works in the prepared workspace.

mod cheat;
mod solution;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{Ending, Reading};
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use super::agent_work::AgentWork;
use super::session::{AgentKind, AgentSession, BuiltIn};
use super::stage_error::StageError;
use super::stages::{AgentRun, Prepared, Stopped};
use super::timing::rounded;
use super::trial_run::TrialRun;
use crate::process::supervise::Ended;
use crate::workspace::changes::{Changes, Snapshot};
use crate::workspace::diff;
use crate::workspace::tree;

impl Prepared {
    /// Runs the agent. Its work can be graded, unless the trial stops here.
    pub(super) fn run_agent(self, run: &mut TrialRun<'_>) -> Result<AgentRun, Stopped> {
        let Prepared {
            delivered,
            session,
            snapshot,
        } = self;
        let is_reference = matches!(session.kind, AgentKind::BuiltIn(BuiltIn::Solution, _));
        let worked = match work(run, session, &snapshot) {
            Ok(worked) => worked,
            Err(error) => return Err(Stopped::Unfinished(Box::new(delivered), error)),
        };
        let agent = AgentRun {
            delivered,
            ended: worked.ended,
            reading: worked.reading,
            changes: worked.changes,
            is_reference,
            notes: worked.notes,
        };
        let kept = agent
            .check_gradable()
            .and_then(|()| Ok(agent.work().write(&run.artifacts(), &run.context.mask)?));
        match kept {
            Ok(()) => Ok(agent),
            Err(error) => Err(Stopped::Ungraded(Box::new(agent), error)),
        }
    }
}

impl AgentRun {
    /// Returns an error if there is no work to grade.
    fn check_gradable(&self) -> Result<(), StageError> {
        match &self.reading.ending {
            _ if self.ended.stopped => Err(StageError::Interrupted),
            Ending::Completed => Ok(()),
            // A timeout is no error: the work until then is graded. The reason for the wait may be an error.
            Ending::Crashed(_) if self.ended.timed_out => Ok(()),
            Ending::Failed(error) if self.ended.timed_out && error.kind == ErrorKind::Agent => {
                Ok(())
            }
            Ending::Crashed(_) if !self.changes.are_none() => Ok(()),
            Ending::Crashed(error) | Ending::Failed(error) => Err(StageError::Error(error.clone())),
        }
    }

    /// Returns the facts that tests need.
    pub(super) fn work(&self) -> AgentWork {
        AgentWork {
            completed: !self.ended.timed_out && self.reading.ending == Ending::Completed,
            is_reference: self.is_reference,
            changed: self.changes.paths(),
            usage: self.reading.usage,
            seconds: rounded(self.ended.seconds),
        }
    }
}

/// The result of an agent's work.
struct Worked {
    ended: Ended,
    reading: Reading,
    changes: Changes,
    notes: Vec<String>,
}

/// Runs the agent, and compares the workspace with what it was before.
fn work(
    run: &mut TrialRun<'_>,
    session: AgentSession,
    snapshot: &Snapshot,
) -> Result<Worked, StageError> {
    run.log
        .section(&format!("agent: {}", session.profile.name))?;
    let leftovers = leftovers(run);
    let credentials = session.credentials.clone();
    let played = play(run, session)?;
    let mut reading = played.reading;
    let mut notes = std::mem::take(&mut reading.notes);
    notes.extend(played.note);
    if is_refused(&reading.ending) {
        // The agent's own advice (`/login`) does not help here: its home is that of the trial.
        notes.push(credentials);
    }
    notes.extend(restore(&run.dirs.workspace)?);
    for dir in leftovers.iter().filter(|path| path.is_dir()) {
        tree::remove(dir)?;
    }
    let changes = snapshot.changes(&run.dirs.workspace, run.spec.case.suite.track_ignored)?;
    diff::write(
        &changes.seen,
        changes.ignored,
        &run.diff(),
        &run.context.mask,
    )?;
    if let Ending::Crashed(error) = &reading.ending
        && !changes.are_none()
    {
        notes.push(format!("{}; what it had done was judged", error.message));
    }
    if played.ended.left_behind > 0 {
        let count = prose::count(played.ended.left_behind, "process");
        notes.push(format!(
            "{count} could not be ended: they belong to another user"
        ));
    }
    Ok(Worked {
        ended: played.ended,
        reading,
        changes,
        notes,
    })
}

/// An agent that has come to its end.
struct Played {
    ended: Ended,
    reading: Reading,
    /// A remark of Terca's, about a solution that failed.
    note: Option<String>,
}

fn play(run: &mut TrialRun<'_>, session: AgentSession) -> Result<Played, StageError> {
    match session.kind {
        AgentKind::Process(process) => {
            let progress = run.progress;
            let (ended, reading) =
                process.run(run, &|activity, usage| progress.report(activity, usage))?;
            Ok(Played {
                ended,
                reading,
                note: None,
            })
        }
        AgentKind::BuiltIn(agent, decoder) => {
            let note = match agent {
                BuiltIn::Solution => solution::apply(run)?,
                BuiltIn::Cheat => {
                    cheat::cheat(&run.spec.case.prompt, &run.dirs, &mut run.log)?;
                    None
                }
                BuiltIn::Nothing => None,
            };
            // Services that set-up has left running end here too, as they do after any other agent.
            let ended = Ended::without_process(run.supervisor.sweep()?);
            Ok(Played {
                ended,
                reading: decoder.finish(ended.exit),
                note,
            })
        }
    }
}

fn is_refused(ending: &Ending) -> bool {
    match ending {
        Ending::Failed(error) | Ending::Crashed(error) => error.kind == ErrorKind::Auth,
        Ending::Completed => false,
    }
}

/// Returns the paths in the workspace that the agent will use for itself. A path that exists already is not its own.
fn leftovers(run: &TrialRun<'_>) -> Vec<Utf8PathBuf> {
    let names = run.spec.case.variant.agent.agent.profile().leftovers;
    let paths = names.iter().map(|name| run.dirs.workspace.join(name));
    paths
        .filter(|path| path.symlink_metadata().is_err())
        .collect()
}

/// Makes sure that there is a workspace, and that it can be read. Returns a remark if the agent had removed it.
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
