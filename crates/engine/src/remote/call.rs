//! The beginning of a conversation: a command is started, and a worker says hello.

use std::io;
use std::sync::Arc;

use camino::Utf8Path;
use terca_core::worker_pool::{TercaAt, WorkerCommand, WorkerPlace};

use super::connection::{Connection, Heard};
use super::frame::PROTOCOL;
use super::message::{FromWorker, Hello};
use super::own_program::OwnProgram;
use super::patient_pipe::Ending;
use super::start_error::WorkerError;
use crate::process::supervise::Launcher;

/// Everything that starts a worker.
#[derive(Debug)]
pub struct Call<'a> {
    /// Starts the command.
    pub launcher: &'a Arc<Launcher>,
    /// The place of the worker.
    pub place: WorkerPlace<'a>,
    /// The running program, for places that it is sent to.
    pub program: Option<&'a OwnProgram>,
    /// A directory for the errors of the command.
    pub dir: &'a Utf8Path,
    /// The version of this program. The worker must have the same.
    pub version: &'a str,
    /// Whether the run is about to end.
    pub ending: &'a Ending,
}

impl Call<'_> {
    /// Starts a worker, and waits until it has said hello. `next` returns what was heard.
    pub fn make(
        &self,
        hear: impl Fn(Heard) + Send + 'static,
        mut next: impl FnMut() -> Result<Heard, WorkerError>,
    ) -> Result<(Connection, Hello), WorkerError> {
        let unique = format!("{:016x}", fastrand::u64(..));
        let command = match (&self.place.pool.terca, self.program) {
            (TercaAt::Copy, Some(program)) => WorkerCommand::Script(program.script(&unique)),
            _ => WorkerCommand::Installed,
        };
        let line = self.place.command_line(&command, &unique);
        let errors = self.dir.join(&unique);
        let patience = (self.place.pool.silence, self.ending);
        let mut connection = Connection::start(self.launcher, &line, errors, patience, hear)
            .map_err(|error| closed(&error))?;
        let shown = self.place.shown_line(&command, &unique);
        let protocol = self.await_greeting(&mut connection, &shown, &mut next)?;
        if protocol != PROTOCOL {
            return Err(self.other_version(format!("with protocol {protocol}")));
        }
        match next()?.into_message()? {
            FromWorker::Hello(hello) if hello.version == self.version => Ok((connection, *hello)),
            FromWorker::Hello(hello) => Err(self.other_version(hello.version)),
            other => Err(unexpected(&other)),
        }
    }

    /// Waits for the greeting, and sends the program where it is missing.
    fn await_greeting(
        &self,
        connection: &mut Connection,
        command: &str,
        next: &mut impl FnMut() -> Result<Heard, WorkerError>,
    ) -> Result<u32, WorkerError> {
        let no_greeting = |words| WorkerError::NoGreeting {
            command: command.to_owned(),
            words,
        };
        let mut has_program = false;
        loop {
            match (next()?, self.program) {
                (Heard::Greeting(version), _) => return Ok(version),
                (Heard::ProgramHere, _) => has_program = true,
                (Heard::ProgramWanted, Some(program)) => match connection.send_program(program) {
                    // The script has ended, and its words come next.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                    sent => sent.map_err(|error| closed(&error))?,
                },
                (Heard::Closed(words), _) if has_program => {
                    return Err(WorkerError::DoesNotRun(words));
                }
                (Heard::Closed(words), _) => return Err(no_greeting(words)),
                (Heard::ProgramWanted | Heard::Message(_) | Heard::Data(_), _) => {
                    return Err(no_greeting(String::new()));
                }
            }
        }
    }

    fn other_version(&self, theirs: String) -> WorkerError {
        WorkerError::OtherVersion {
            theirs,
            ours: self.version.to_owned(),
        }
    }
}

impl Heard {
    /// Returns the message, where nothing else is expected.
    pub fn into_message(self) -> Result<FromWorker, WorkerError> {
        match self {
            Heard::Message(message) => Ok(*message),
            Heard::Closed(words) => Err(WorkerError::Closed(words)),
            Heard::Greeting(_) | Heard::ProgramWanted | Heard::ProgramHere | Heard::Data(_) => Err(
                WorkerError::Closed("it said something unexpected".to_owned()),
            ),
        }
    }
}

fn closed(error: &io::Error) -> WorkerError {
    WorkerError::Closed(error.to_string())
}

/// Returns the error for a message that does not belong here.
pub fn unexpected(message: &FromWorker) -> WorkerError {
    let name = match message {
        FromWorker::Hello(_) => "a greeting",
        FromWorker::Wanted => "a wish for the suite",
        FromWorker::Opened(_) => "that it is ready",
        FromWorker::Refused { .. } => "a refusal",
        FromWorker::Event(_) | FromWorker::Ended { .. } => "news of a trial",
        FromWorker::Inspected(_) => "something about its machine",
        FromWorker::Beat | FromWorker::Pong => "a sign of life",
    };
    WorkerError::Closed(format!("it said {name} when nobody expected that"))
}
