//! The limits of a trial, kept while one of its commands runs.

use rustix::process::Pid;
use terca_core::config::suite::TrialLimits;

use super::{Attachment, CommandEnd};
use crate::process::supervise::{Enclosure, Turn};
use crate::sandbox::limits::{LimitKeeper, LimitedCommand, WatchedDir};
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;

/// The command whose limits are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::trial) enum Limited {
    Agent,
    Test,
}

/// The limits of a trial, for one command.
pub(super) struct Limits<'a> {
    keeper: &'a LimitKeeper,
    limits: TrialLimits,
    noun: &'static str,
    watched: Vec<WatchedDir>,
    /// Set once the walls are known: a container keeps limits itself.
    command: Option<LimitedCommand>,
}

impl<'a> Limits<'a> {
    pub(super) fn new(run: &TrialRun<'a>, limited: Limited) -> Self {
        let dirs = &run.dirs;
        let (noun, command_dirs) = match limited {
            Limited::Test => ("a test", dirs.for_tests()),
            Limited::Agent => ("the agent", dirs.for_agent()),
        };
        let watched = vec![
            WatchedDir {
                name: "workspace",
                dir: dirs.changes().unwrap_or(dirs.workspace.clone()),
                mount: dirs.changes().map(|_| dirs.here()),
            },
            WatchedDir::new("home", dirs.home.clone()),
            WatchedDir::new("temporary directory", command_dirs.tmp.to_owned()),
            WatchedDir::new("output", dirs.io.clone()),
        ];
        Limits {
            keeper: &run.context.limits,
            limits: run.spec.case.limits,
            noun,
            watched,
            command: None,
        }
    }
}

impl Attachment for Limits<'_> {
    fn enclose(&mut self, walls: Option<Enclosure>) -> Result<Option<Enclosure>, StageError> {
        let watched = std::mem::take(&mut self.watched);
        let mut command = self.keeper.begin(&self.limits, walls, watched)?;
        let walls = command.enclosure.take();
        self.command = Some(command);
        Ok(walls)
    }

    fn on_turn(&mut self, root: Option<Pid>) -> Turn {
        match &mut self.command {
            Some(command) => command.on_turn(root),
            None => Turn::Wait,
        }
    }

    fn detach(self: Box<Self>, end: &mut CommandEnd<'_, '_>) -> Result<(), StageError> {
        let Some(command) = self.command else {
            return Ok(());
        };
        if command.was_ended() && !end.run.context.interrupt.is_stop() {
            end.ended.stopped = false;
        }
        let met = command.met(self.noun);
        for sentence in &met {
            end.run.log.line(sentence)?;
        }
        match &mut end.session {
            Some(session) => {
                session.ran_into_limit = !met.is_empty();
                session.reading.notes.extend(met);
            }
            None => end.run.limits_met.extend(met),
        }
        Ok(())
    }
}
