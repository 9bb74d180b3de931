//! The messages between Terca and a supervisor: one JSON value a line.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use terca_core::process::Exit;

/// The hidden first argument that makes the program a supervisor. The second is the limit of open files.
pub const ARGUMENT: &str = "__supervise";
/// The third argument of a supervisor in an enclosure, which says when it is ready. A fourth is the path of the socket to
/// connect to, where standard input is none.
pub(super) const ENCLOSED: &str = "enclosed";

/// A command to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// The program's file.
    pub program: Utf8PathBuf,
    /// Its arguments, without the program itself.
    pub args: Vec<String>,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    /// The directory that it is started in.
    pub dir: Utf8PathBuf,
    /// The file that it reads; `None` is an empty input, never a pipe that stays open.
    pub stdin: Option<Utf8PathBuf>,
    /// The file that its output is appended to. It must exist.
    pub stdout: Utf8PathBuf,
    /// The file that its errors are appended to. It must exist, and may be the same.
    pub stderr: Utf8PathBuf,
    /// The time after which it is asked to end.
    pub timeout: Duration,
    /// The signal that asks the command to end.
    pub stop_signal: Signal,
    /// The time that it then has before it is killed.
    pub grace: Duration,
    /// Kill everything that is left afterwards. Set-up commands may leave a service running for
    /// the agent; it ends with the agent.
    pub sweep: bool,
}

/// A signal that asks a program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// SIGINT, as Ctrl+C sends it.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

/// A message to the supervisor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Request {
    /// Run a command. The answer is `Ended` or `CouldNotStart`.
    Run(Box<Job>),
    /// Ask the running command to end, as at the end of its time.
    Stop,
    /// End it at once.
    Kill,
    /// Stop all processes, and the time of the running command.
    Pause,
    /// Go on after a pause.
    GoOn,
    /// End what earlier commands have left running.
    Sweep,
    /// End what is left of the trial, and say whether another one may begin here.
    Rest,
    /// Listen on these addresses. The sockets come with the answer `Listening`.
    Listen(Vec<SocketAddr>),
}

/// A message from the supervisor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Response {
    /// The supervisor is there. Only one in an enclosure says so, which may not have been made.
    Ready,
    Ended(Ended),
    CouldNotStart(String),
    Swept {
        left_behind: usize,
    },
    Resting {
        as_new: bool,
    },
    /// The sockets that were asked for come with this message, unless there is a reason why not.
    Listening {
        failure: Option<String>,
    },
}

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Its exit code, or the signal that ended it.
    pub exit: Exit,
    /// It was still running when its time was over.
    pub timed_out: bool,
    /// It was stopped by an interrupt.
    pub stopped: bool,
    /// The time that it ran.
    pub seconds: f64,
    /// The number of processes below it that could not be ended, because they run as another user.
    pub left_behind: usize,
    /// Its supervisor was killed or stopped meanwhile, so that everything below was ended and its own end is not
    /// known. Only Terca can say so.
    #[serde(skip)]
    pub lost: bool,
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
        let mut chunk = [0; 16 * 1024];
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

    /// Returns whether a whole message is in the buffer, which no `poll` would report.
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
        send(&mut here, &Request::Stop).unwrap();
        send(&mut here, &Request::Kill).unwrap();
        let mut lines = Lines::default();
        assert!(matches!(
            lines.receive(&mut there).unwrap(),
            Received::Message(Request::Stop)
        ));
        assert!(
            lines.has_message(),
            "the second came with the first, and no poll will tell of it"
        );
        assert!(matches!(
            lines.receive(&mut there).unwrap(),
            Received::Message(Request::Kill)
        ));
        assert!(!lines.has_message());
    }
}
