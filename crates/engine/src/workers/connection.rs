//! The coordinator's side of one worker: the command that starts it, and the conversation.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use terca_core::worker_pool::WorkerPlace;
use thiserror::Error;

use super::wire::{self, FromWorker, Hello, ToWorker};
use crate::VERSION;
use crate::locked;
use crate::process::confine::{Confinement, OWN_PROGRAM};
use crate::process::interrupt::Interrupt;
use crate::process::pause::Stopwatch;
use crate::process::supervise::Launcher;
use crate::run::files::end_of;
use crate::run::trial_thread::GivenUp;

/// Set for the command that starts a worker. A command line that loses the last word would start Terca itself.
pub const STARTS_WORKER: &str = "TERCA_STARTS_WORKER";
/// The time for a worker to end by itself once its input is closed.
const LAST_WAIT: Duration = Duration::from_secs(10);
/// The longest time between two looks at a command that is to end. Thousands may end at once, and all are looked at.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// The time between two looks at a run that may have ended meanwhile.
const LOOK: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};
/// The most that is read of the errors of the command.
const MOST_WORDS: u64 = 4096;
/// The most letters that are shown of foreign words.
const MOST_SHOWN: usize = 500;
/// The words of programs that do not find the one that they are to start.
const NOT_FOUND: [&str; 2] = ["not found", "No such file or directory"];

/// The time that a worker has for its trial, from when it was given to it.
pub type TrialTime = Arc<Mutex<Option<(Stopwatch, Duration)>>>;

/// A worker that could not be started, or that was lost.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WorkerError {
    /// The command that starts it did not find Terca, and said so.
    #[error("Terca is missing there; {0}")]
    Missing(String),
    /// The command that starts it ended, or said something else.
    #[error("{0}")]
    NoGreeting(String),
    /// It is another version of Terca.
    #[error("the worker is Terca {0}, and this is Terca {VERSION}")]
    OtherVersion(String),
    /// It cannot do what it is asked to do.
    #[error("{node} cannot be used: {reason}")]
    Refused {
        /// The node's name.
        node: String,
        /// The reason.
        reason: String,
        /// The next step.
        help: Option<String>,
    },
    /// The connection has ended.
    #[error("{0}")]
    Lost(String),
    /// The run was interrupted, or is over.
    #[error("interrupted")]
    Interrupted,
}

impl WorkerError {
    /// Returns the next step.
    pub fn help(&self) -> Option<String> {
        match self {
            WorkerError::Missing(_) | WorkerError::OtherVersion(_) => Some(format!(
                "install Terca {VERSION} on that machine, or set `terca:` of the pool to its path there"
            )),
            WorkerError::NoGreeting(_) => Some(
                "run the command by hand; it must start `terca worker` with its input and output connected".to_owned(),
            ),
            WorkerError::Refused { help, .. } => help.clone(),
            WorkerError::Lost(_) | WorkerError::Interrupted => None,
        }
    }

    /// Returns whether another try may come to something else.
    pub fn may_pass(&self) -> bool {
        matches!(self, WorkerError::NoGreeting(_) | WorkerError::Lost(_))
    }

    /// Returns the error for a message that does not belong here.
    pub fn unexpected() -> Self {
        WorkerError::Lost("it said something that nobody expected".to_owned())
    }
}

impl From<io::Error> for WorkerError {
    fn from(error: io::Error) -> Self {
        WorkerError::Lost(error.to_string())
    }
}

/// Tells workers that nobody waits for them any more.
#[derive(Debug)]
pub struct Ending {
    /// The interrupts of the user.
    pub interrupt: Arc<Interrupt>,
    /// The run is over.
    pub is_over: AtomicBool,
    /// No worker has a trial to end.
    pub without_trials: bool,
}

impl Ending {
    /// Makes one that has not come.
    pub fn new(interrupt: Arc<Interrupt>, without_trials: bool) -> Arc<Self> {
        Arc::new(Ending {
            interrupt,
            is_over: AtomicBool::new(false),
            without_trials,
        })
    }

    /// Returns whether a worker is of no use: one that is ready may still end its trial.
    pub fn has_come(&self, is_ready: bool) -> bool {
        let is_asked = match is_ready && !self.without_trials {
            true => self.interrupt.is_kill(),
            false => self.interrupt.is_stop(),
        };
        is_asked || self.is_over.load(Ordering::Acquire)
    }
}

/// Everything that starts a worker.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Starts the command.
    pub launcher: &'a Arc<Launcher>,
    /// The place of the worker.
    pub place: WorkerPlace<'a>,
    /// A directory for the errors of the command.
    pub dir: &'a Utf8Path,
    /// Whether somebody waits for the worker.
    pub ending: &'a Arc<Ending>,
}

/// A worker, with its input and output.
#[derive(Debug)]
pub struct Connection {
    output: BufReader<Output>,
    /// The input. The worker ends when it is closed.
    pub input: Option<ChildStdin>,
    errors: Utf8PathBuf,
    /// The worker's first words.
    pub hello: Hello,
}

impl Connection {
    /// Starts a worker, and waits until it has greeted. A queue may keep it waiting.
    pub fn start(call: Call<'_>) -> Result<Self, WorkerError> {
        let unique = format!("{:016x}", fastrand::u64(..));
        let command = call.place.command_line(&unique);
        let errors = call.dir.join(&unique);
        let mut child = start(&command, &errors, call.launcher)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = Output {
            child,
            launcher: call.launcher.clone(),
            pipe: output.ok_or_else(|| io::Error::other("it has no output"))?,
            silence: call.place.pool.silence,
            ending: call.ending.clone(),
            has_greeted: false,
            is_ready: false,
            trial_time: TrialTime::default(),
        };
        let mut connection = Connection {
            output: BufReader::with_capacity(64 * 1024, output),
            input,
            errors,
            hello: Hello::default(),
        };
        let words = match wire::await_greeting(&mut connection.output) {
            Ok(Ok((version, _))) if version != VERSION => {
                return Err(WorkerError::OtherVersion(shown(&version)));
            }
            Ok(Ok((_, hello))) => {
                connection.output.get_mut().has_greeted = true;
                connection.hello = serde_json::from_str(&hello).map_err(io::Error::from)?;
                connection.hello.node = shown(&connection.hello.node);
                return Ok(connection);
            }
            Ok(Err(words)) => connection.last_words(&words),
            Err(error) => match connection.error(&error) {
                WorkerError::Lost(words) => words,
                other => return Err(other),
            },
        };
        Err(match NOT_FOUND.iter().any(|said| words.contains(said)) {
            true => WorkerError::Missing(format!("`{command}` says: {words}")),
            false => {
                WorkerError::NoGreeting(format!("`{command}` did not start a worker: {words}"))
            }
        })
    }

    /// Sends a message.
    pub fn send(&mut self, message: &ToWorker) -> Result<(), WorkerError> {
        let input = self.input.as_mut();
        let input = input.ok_or_else(|| io::Error::other("it is closed"))?;
        Ok(wire::send(input, message)?)
    }

    /// Sends a message and a file, while its answer is waited for. A worker that reads nothing is noticed by that.
    pub fn send_beside(&self, message: ToWorker, file: Option<(File, u64)>) -> io::Result<()> {
        let input = self.input.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let mut input = File::from(input.as_fd().try_clone_to_owned()?);
        std::thread::Builder::new()
            .name("order".into())
            .spawn(move || {
                // A worker that has left has said why.
                let sent = wire::send(&mut input, &message);
                if let (Ok(()), Some((file, length))) = (sent, file) {
                    let _ = wire::send_bytes(&mut input, file, length);
                }
            })?;
        Ok(())
    }

    /// Receives the next message, but no sign of life.
    pub fn receive(&mut self) -> Result<FromWorker, WorkerError> {
        loop {
            match self.receive_any()? {
                FromWorker::Alive => {}
                FromWorker::Refused(GivenUp { reason, help }) => {
                    return Err(WorkerError::Refused {
                        node: self.hello.node.clone(),
                        reason: shown(&reason),
                        help: help.as_deref().map(shown),
                    });
                }
                message => return Ok(message),
            }
        }
    }

    /// Receives the next message.
    pub fn receive_any(&mut self) -> Result<FromWorker, WorkerError> {
        match wire::receive(&mut self.output) {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err(WorkerError::Lost(self.last_words(""))),
            Err(error) => Err(self.error(&error)),
        }
    }

    /// Reads the bytes that a message has announced.
    pub fn receive_bytes<T>(
        &mut self,
        length: u64,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> Result<io::Result<T>, WorkerError> {
        let received = wire::receive_bytes(&mut self.output, length, read);
        received.map_err(|error| self.error(&error))
    }

    /// Returns the time for the trial, which is looked at whatever the worker sends.
    pub fn trial_time(&self) -> TrialTime {
        self.output.get_ref().trial_time.clone()
    }

    /// Takes note that a worker can run trials, and ends by itself.
    pub fn set_ready(&mut self) {
        self.output.get_mut().is_ready = true;
    }

    /// Ends the command at once.
    pub fn kill(&self) {
        self.output.get_ref().signal(Signal::KILL);
    }

    fn error(&self, error: &io::Error) -> WorkerError {
        let Output {
            ending, is_ready, ..
        } = self.output.get_ref();
        match ending.has_come(*is_ready) {
            true => WorkerError::Interrupted,
            false => WorkerError::Lost(self.last_words(&error.to_string())),
        }
    }

    /// Returns the last words of the command: its errors, and the reason or what it said instead.
    fn last_words(&self, said: &str) -> String {
        let errors = File::open(&self.errors).and_then(|file| end_of(file, MOST_WORDS));
        let errors = errors.unwrap_or_default();
        let lines: Vec<&str> = errors.trim().lines().chain(said.trim().lines()).collect();
        match &lines[lines.len().saturating_sub(3)..] {
            [] => "it printed nothing".to_owned(),
            last => shown(&last.join("; ")),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.input = None;
        self.output.get_mut().end();
        let _ = std::fs::remove_file(&self.errors);
    }
}

/// Starts the command that starts a worker.
fn start(line: &str, errors: &Utf8Path, launcher: &Launcher) -> io::Result<Child> {
    // It ends with this program, also where this one is killed: a command that waits in a queue reads no input.
    let step = Confinement {
        ends_with_parent: true,
        ..Confinement::default()
    };
    let mut command = Command::new(OWN_PROGRAM);
    command
        .args(step.args())
        .args(["/bin/sh", "-c", &in_place_of_shell(line)])
        .env(STARTS_WORKER, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::from(File::create(errors)?));
    launcher.spawn_known(&mut command)
}

/// Returns a line that lets a single command take the place of the shell. Not every shell does that by itself, and the
/// signal at the end of this program reaches the shell alone.
fn in_place_of_shell(line: &str) -> String {
    let is_single = !line.contains([';', '|', '&', '<', '>', '(', ')', '`', '\n']);
    let first = line.split_whitespace().next().unwrap_or_default();
    match is_single && !first.contains('=') && !["exec", "!"].contains(&first) {
        true => format!("exec {line}"),
        false => line.to_owned(),
    }
}

/// Returns foreign words on one line, cut where they are too long.
pub fn shown(words: &str) -> String {
    let mut letters = words.chars();
    let line = letters.by_ref().take(MOST_SHOWN);
    let mut line: String = line
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if letters.next().is_some() {
        line.push('…');
    }
    line
}

/// The output of a worker. Reading ends when the worker is silent for too long, and when nobody waits for it.
#[derive(Debug)]
struct Output {
    child: Child,
    launcher: Arc<Launcher>,
    pipe: ChildStdout,
    silence: Duration,
    ending: Arc<Ending>,
    /// The worker has greeted. Until then, it may be in a queue.
    has_greeted: bool,
    /// The worker can run trials.
    is_ready: bool,
    trial_time: TrialTime,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let waited = Stopwatch::start();
        loop {
            let trial_time = *locked(&self.trial_time);
            if trial_time.is_some_and(|(watch, most)| watch.elapsed() >= most) {
                let words = "its trial takes longer than all of its time limits together";
                return Err(io::Error::other(words));
            }
            let interrupt = match self.is_ready {
                true => self.ending.interrupt.kill_file(),
                false => self.ending.interrupt.stop_file(),
            };
            let mut files = [
                PollFd::new(&self.pipe, PollFlags::IN),
                PollFd::new(interrupt, PollFlags::IN),
            ];
            match poll(&mut files, Some(&LOOK)) {
                Ok(_) if !files[0].revents().is_empty() => return self.pipe.read(buffer),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if self.ending.has_come(self.is_ready) {
                return Err(io::Error::other("the run was ended"));
            }
            // Others may hold its output open.
            if !matches!(self.child.try_wait(), Ok(None)) {
                return Err(io::Error::other("the command that started it has ended"));
            }
            if self.has_greeted && waited.elapsed() >= self.silence {
                let seconds = self.silence.as_secs();
                let message = format!("it has said nothing for {seconds} seconds");
                return Err(io::Error::other(message));
            }
        }
    }
}

impl Output {
    /// Waits for the command to end. Its input is closed; one that is not ready may wait in a queue, and reads no input.
    fn end(&mut self) {
        let started = Instant::now();
        if self.ending.interrupt.is_kill() {
            self.signal(Signal::KILL);
        }
        let patience = match self.is_ready {
            true => LAST_WAIT,
            false => Duration::ZERO,
        };
        let mut is_asked = false;
        let mut pause = Duration::from_millis(2);
        while matches!(self.child.try_wait(), Ok(None)) {
            let waited = started.elapsed();
            if waited >= patience + LAST_WAIT {
                self.signal(Signal::KILL);
                let _ = self.child.wait();
                break;
            }
            if waited >= patience && !is_asked {
                self.signal(Signal::TERM);
                is_asked = true;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.launcher.ended(&self.child, true);
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(pid, signal);
        }
    }
}
