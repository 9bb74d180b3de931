//! The supervisors of a run.

use std::sync::{Mutex, PoisonError};

use super::client::{SuperviseError, Supervisor};
use crate::process::interrupt::Interrupt;

/// Supervisors that have nothing to look after just now. Starting one costs more than anything else that a small
/// trial does; one that has proved to have no process below it, and to be in the condition it was started in, can
/// look after the next trial. All of them end with this value.
#[derive(Debug, Default)]
pub struct Crew {
    resting: Mutex<Vec<Supervisor>>,
}

impl Crew {
    pub fn call(&self) -> Result<Supervisor, SuperviseError> {
        let rested = self
            .resting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        rested.map_or_else(Supervisor::start, Ok)
    }

    /// The trial is over. Whatever a supervisor cannot prove ends here.
    pub fn release(&self, mut supervisor: Supervisor, interrupt: &Interrupt) {
        if !interrupt.is_stop() && supervisor.rest(interrupt) {
            self.resting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(supervisor);
        }
    }
}
