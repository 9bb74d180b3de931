//! Attachments of a command: everything between it and the world that is not its own program.
//!
//! An attachment changes what a command is started with, looks after it while it runs, and is detached at its end with
//! what it has learned. A new one is a file here and a line in [`of_command`].

mod limits;

use rustix::process::Pid;

use super::stage_error::StageError;
use super::trial_run::TrialRun;
use crate::process::confine::Confinement;
use crate::process::supervise::{Enclosure, Ended, Turn};
pub(super) use limits::Limited;
use limits::Limits;

/// Something between a command and the world.
pub(super) trait Attachment {
    /// Changes the walls that the command runs behind.
    fn enclose(&mut self, walls: Option<Enclosure>) -> Result<Option<Enclosure>, StageError> {
        Ok(walls)
    }

    /// Looks after the command while it runs. All of its processes are below `root`.
    fn on_turn(&mut self, _root: Option<Pid>) -> Turn {
        Turn::Wait
    }

    /// Adds what was learned to the end of the command.
    fn detach(self: Box<Self>, end: &mut CommandEnd<'_, '_>) -> Result<(), StageError>;
}

/// The attachments of a command, in the order in which they are attached and detached.
pub(super) type Attachments<'a> = Vec<Box<dyn Attachment + 'a>>;

/// The end of a command.
pub(super) struct CommandEnd<'a, 'run> {
    pub(super) run: &'a mut TrialRun<'run>,
    pub(super) ended: Ended,
}

/// Returns the attachments of every command of a trial.
pub(super) fn of_command<'a>(
    run: &TrialRun<'a>,
    limited: Option<Limited>,
) -> Result<Attachments<'a>, StageError> {
    let mut attachments: Attachments<'a> = Vec::new();
    if let Some(mounts) = run.dirs.mounts().transpose()? {
        attachments.push(Box::new(MountedWorkspace(mounts)));
    }
    if let Some(limited) = limited {
        attachments.push(Box::new(Limits::new(run, limited)));
    }
    Ok(attachments)
}

/// Detaches everything from a command that has ended. Returns its end.
pub(super) fn detach(
    attachments: Attachments<'_>,
    run: &mut TrialRun<'_>,
    ended: Ended,
) -> Result<Ended, StageError> {
    let mut end = CommandEnd { run, ended };
    for attachment in attachments {
        attachment.detach(&mut end)?;
    }
    Ok(end.ended)
}

/// A workspace that is mounted where only the commands of its trial see it.
struct MountedWorkspace(Confinement);

impl Attachment for MountedWorkspace {
    fn enclose(&mut self, walls: Option<Enclosure>) -> Result<Option<Enclosure>, StageError> {
        Ok(Some(Enclosure::confined(walls, &self.0)))
    }

    fn detach(self: Box<Self>, _end: &mut CommandEnd<'_, '_>) -> Result<(), StageError> {
        Ok(())
    }
}
