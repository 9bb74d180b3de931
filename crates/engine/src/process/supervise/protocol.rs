//! The messages between Terca and a supervisor.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use terca_core::process::{Exit, Signal};

use crate::process::fixed_root::FixedRoot;

/// The hidden first argument that makes the program a supervisor. The second is the limit of open files.
pub const ARGUMENT: &str = "__supervise";
/// The third argument of a supervisor in an enclosure, which says when it is ready. A fourth is the path of the socket to
/// connect to, where standard input is none.
pub(super) const ENCLOSED: &str = "enclosed";
/// The same argument, where the supervisor first lays a filter on itself.
pub(super) const FILTERED: &str = "filtered";

/// A command to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// The program's file.
    pub program: Utf8PathBuf,
    /// Its arguments, without the program itself.
    pub args: Vec<String>,
    /// The whole environment; nothing is inherited.
    pub env: BTreeMap<String, String>,
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
    /// The path at which it finds the directory of its trial.
    #[serde(skip)]
    pub fixed_root: Option<FixedRoot>,
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
    /// Stop all processes, and the time of the running command; or go on after that.
    Pause(bool),
    /// End what earlier commands have left running. The answer is `Swept`.
    Sweep,
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
    Swept(Swept),
    /// The sockets that were asked for come with this message, unless there is a reason why not.
    Listening(Result<(), String>),
}

/// The state of a supervisor when everything below it was ended.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Swept {
    /// The number of processes that could not be ended, because they run as another user.
    pub left_behind: usize,
    /// It is as it was started, so that it may look after another trial.
    pub as_new: bool,
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
    /// That supervisor was killed where nothing that it started can do it: from outside of its sandbox.
    #[serde(skip)]
    pub killed_from_outside: bool,
}
