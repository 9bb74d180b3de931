//! What Terca and a supervisor say to each other: one JSON value a line.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use terca_core::process::Exit;

/// A command to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    pub program: Utf8PathBuf,
    pub args: Vec<String>,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    pub dir: Utf8PathBuf,
    /// Read from this file; `None` is an empty input, never a pipe that stays open.
    pub stdin: Option<Utf8PathBuf>,
    /// Output is appended to these files, which exist.
    pub stdout: Utf8PathBuf,
    pub stderr: Utf8PathBuf,
    pub timeout: Duration,
    /// The signal that asks the command to end.
    pub stop_signal: Signal,
    /// How long it then has before it is killed.
    pub grace: Duration,
    /// Whether everything that is left afterwards is killed. Set-up commands may leave a service running for
    /// the agent; it ends with the agent.
    pub sweep: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    Interrupt,
    Terminate,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Order {
    Run(Box<Job>),
    /// Ask the running command to end, as at the end of its time.
    Stop,
    /// End it at once.
    Kill,
    /// End what earlier commands have left running.
    Sweep,
    /// The trial is over: end what is left, and say whether another trial may begin here.
    Rest,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Answer {
    Ended(Ended),
    CouldNotStart(String),
    Swept { left_behind: usize },
    Resting { as_new: bool },
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    pub exit: Exit,
    pub timed_out: bool,
    /// It was stopped by an interrupt.
    pub stopped: bool,
    pub seconds: f64,
    /// Processes below it that could not be ended, because they had made themselves another user's.
    pub left_behind: usize,
}

pub(super) fn send(socket: &mut UnixStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    socket.write_all(&line)
}

/// Collects bytes until a whole line is there.
#[derive(Debug, Default)]
pub(super) struct Lines {
    buffer: Vec<u8>,
}

pub(super) enum Received<T> {
    Message(T),
    /// Nothing whole yet.
    Partial,
    Closed,
}

impl Lines {
    /// Reads once from a socket that `poll` called readable.
    pub(super) fn receive<T: DeserializeOwned>(
        &mut self,
        socket: &mut UnixStream,
    ) -> io::Result<Received<T>> {
        if let Some(message) = self.next()? {
            return Ok(Received::Message(message));
        }
        let mut chunk = [0; 64 * 1024];
        match socket.read(&mut chunk) {
            Ok(0) => return Ok(Received::Closed),
            Ok(length) => self.buffer.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Ok(Received::Closed);
            }
            Err(error) => return Err(error),
        }
        Ok(self.next()?.map_or(Received::Partial, Received::Message))
    }

    /// Whether a message is here already, so that no `poll` would tell of it.
    pub(super) fn has_message(&self) -> bool {
        self.buffer.contains(&b'\n')
    }

    fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') else {
            return Ok(None);
        };
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        Ok(Some(serde_json::from_slice(&line)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_arrive_together_are_all_there() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        send(&mut here, &Order::Stop).unwrap();
        send(&mut here, &Order::Kill).unwrap();
        let mut lines = Lines::default();
        assert!(matches!(
            lines.receive(&mut there).unwrap(),
            Received::Message(Order::Stop)
        ));
        assert!(
            lines.has_message(),
            "the second came with the first, and no poll will tell of it"
        );
        assert!(matches!(
            lines.receive(&mut there).unwrap(),
            Received::Message(Order::Kill)
        ));
        assert!(!lines.has_message());
    }
}
