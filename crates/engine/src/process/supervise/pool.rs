//! The supervisors of a run.

use std::sync::{Arc, Mutex};

use rustix::process::Pid;

use super::client::{SuperviseError, Supervisor, Turn};
use super::launcher::{Enclosure, Launcher};
use super::protocol::{Ended, Job};
use crate::locked;
use crate::process::interrupt::Interrupt;

/// Supervisors that can be used again. All of them end with this value.
///
/// Starting one costs more than anything else that a small trial does. One that has proved to have no process below
/// it, and to be in the condition it was started in, can look after the next trial.
#[derive(Debug)]
pub struct SupervisorPool {
    launcher: Arc<Launcher>,
    resting: Mutex<Vec<Supervisor>>,
}

impl SupervisorPool {
    /// Makes an empty pool.
    pub fn new(launcher: Arc<Launcher>) -> Self {
        SupervisorPool {
            launcher,
            resting: Mutex::default(),
        }
    }

    /// Returns what starts its supervisors.
    pub fn launcher(&self) -> &Arc<Launcher> {
        &self.launcher
    }

    /// Lends a supervisor, which comes back when the guard is dropped.
    pub fn acquire<'a>(
        &'a self,
        interrupt: &'a Interrupt,
    ) -> Result<SupervisorGuard<'a>, SuperviseError> {
        let rested = locked(&self.resting).pop();
        Ok(SupervisorGuard {
            supervisor: rested.map_or_else(|| Supervisor::start(&self.launcher), Ok)?,
            enclosed: Vec::new(),
            pool: self,
            interrupt,
        })
    }

    /// Returns a line for each container that could not be removed.
    pub fn take_remains(&self) -> Vec<String> {
        self.launcher.take_remains()
    }

    /// Takes a supervisor back. One that cannot prove that it is as good as new ends here.
    fn release(&self, mut supervisor: Supervisor, interrupt: &Interrupt) {
        let is_as_new =
            !interrupt.is_stop() && supervisor.sweep(interrupt).is_ok_and(|swept| swept.as_new);
        if is_as_new {
            locked(&self.resting).push(supervisor);
        }
    }
}

/// A supervisor that belongs to one trial until the guard is dropped.
#[derive(Debug)]
pub struct SupervisorGuard<'a> {
    supervisor: Supervisor,
    /// Supervisors in enclosures whose commands may have left services running.
    enclosed: Vec<Supervisor>,
    pool: &'a SupervisorPool,
    interrupt: &'a Interrupt,
}

impl SupervisorGuard<'_> {
    /// Runs a command to its end: see [`Supervisor::run`]. After one that has killed or stopped its supervisor, another
    /// supervisor takes the next command. `on_turn` is given the process that all processes of the command are below.
    pub fn run(
        &mut self,
        job: &Job,
        enclosure: Option<&Enclosure>,
        on_turn: &mut dyn FnMut(Option<Pid>) -> Turn,
    ) -> Result<Ended, SuperviseError> {
        if let Some(enclosure) = enclosure {
            return self.run_in(enclosure, job, on_turn);
        }
        if self.supervisor.has_ended() {
            self.replace()?;
        }
        let root = self.supervisor.root();
        let ended = self
            .supervisor
            .run(job, self.interrupt, &mut || on_turn(root))?;
        if ended.lost && !ended.stopped {
            self.replace()?;
        }
        Ok(ended)
    }

    fn run_in(
        &mut self,
        enclosure: &Enclosure,
        job: &Job,
        on_turn: &mut dyn FnMut(Option<Pid>) -> Turn,
    ) -> Result<Ended, SuperviseError> {
        let mut inside = Supervisor::start_in(&self.pool.launcher, enclosure, self.interrupt)?;
        let root = inside.root();
        let ended = inside.run(job, self.interrupt, &mut || on_turn(root))?;
        if job.sweep {
            drop(inside);
            // Services of other commands end too.
            self.sweep()?;
        } else {
            self.enclosed.push(inside);
        }
        Ok(ended)
    }

    /// Ends everything that commands have left running: see [`Supervisor::sweep`]. Below a supervisor that was killed
    /// or stopped nothing is left either.
    pub fn sweep(&mut self) -> Result<usize, SuperviseError> {
        self.enclosed.clear();
        match self.supervisor.sweep(self.interrupt) {
            Err(SuperviseError::Lost | SuperviseError::Stuck) => {
                self.replace()?;
                Ok(0)
            }
            swept => Ok(swept?.left_behind),
        }
    }

    fn replace(&mut self) -> Result<(), SuperviseError> {
        // The old one goes first: what it leaves is ended before anything new is started.
        drop(self.supervisor.take());
        self.supervisor = Supervisor::start(&self.pool.launcher)?;
        Ok(())
    }
}

impl Drop for SupervisorGuard<'_> {
    fn drop(&mut self) {
        self.enclosed.clear();
        self.pool.release(self.supervisor.take(), self.interrupt);
    }
}
