//! A look at the machine of a worker, for `terca doctor --on`.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use super::{Output, host_of};
use crate::checkup;
use crate::process::interrupt::Interrupt;
use crate::process::supervise::Launcher;
use crate::remote::message::{FromWorker, SentVariables};

/// A look that goes on while the worker listens. It is ended with the value, and leaves nothing.
pub(super) struct Inspection {
    interrupt: Arc<Interrupt>,
    thread: Option<JoinHandle<()>>,
}

impl Inspection {
    /// Begins to look, and tells the findings.
    pub(super) fn start(variables: &SentVariables, output: Output) -> io::Result<Self> {
        let host = host_of(&variables.0);
        let interrupt = Arc::new(Interrupt::new()?);
        let own = interrupt.clone();
        let thread = std::thread::Builder::new()
            .name("inspection".into())
            .spawn(move || {
                let found = checkup::examine(&host, &Launcher::of_this_program(), &[], &own);
                let answer = match found {
                    Ok(findings) => FromWorker::Inspected(Box::new(findings)),
                    Err(error) => FromWorker::Refused {
                        reason: error.to_string(),
                        help: None,
                    },
                };
                // Nobody listens any more when this fails.
                let _ = output.send(&answer);
            })?;
        Ok(Inspection {
            interrupt,
            thread: Some(thread),
        })
    }
}

impl Drop for Inspection {
    fn drop(&mut self) {
        self.interrupt.kill();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
