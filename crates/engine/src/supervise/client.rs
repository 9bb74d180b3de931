//! Terca's end of a supervisor.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;
use terca_core::grade::Exit;
use thiserror::Error;

use super::os;
use super::protocol::{Answer, Ended, Job, Lines, Order, Received, send};
use super::supervisor::end_all_children;
use crate::interrupt::Interrupt;

/// How often a caller gets a turn while a command runs.
const TURN: Duration = Duration::from_millis(100);

#[derive(Debug, Error)]
pub enum SuperviseError {
    #[error("the supervisor could not be started: {0}")]
    Start(#[source] io::Error),
    #[error("the supervisor ended unexpectedly; every process below it was ended")]
    Lost,
    #[error("`{program}` could not be started: {reason}")]
    Program { program: String, reason: String },
}

/// The supervisors that are alive. Every other child of this process is a stray.
static ALIVE: Mutex<Option<HashSet<Pid>>> = Mutex::new(None);

fn alive() -> MutexGuard<'static, Option<HashSet<Pid>>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// To be called once before the first supervisor is started.
pub fn prepare_process() {
    os::become_subreaper();
}

/// Ends what a supervisor that was shot has left behind.
pub fn end_strays() {
    // While this is held no supervisor is started, so that none is taken for a stray.
    let alive = alive();
    end_all_children(|pid| !alive.as_ref().is_some_and(|alive| alive.contains(&pid)));
}

/// A running supervisor. Dropping it ends everything below it.
#[derive(Debug)]
pub struct Supervisor {
    socket: Option<UnixStream>,
    child: Child,
    pid: Option<Pid>,
    lines: Lines,
}

impl Supervisor {
    pub fn start() -> Result<Self, SuperviseError> {
        let (socket, theirs) = UnixStream::pair().map_err(SuperviseError::Start)?;
        let mut alive = alive();
        let child = Command::new(own_program())
            .arg(super::ARGUMENT)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(SuperviseError::Start)?;
        let pid = Pid::from_raw(child.id() as i32);
        alive.get_or_insert_default().extend(pid);
        Ok(Supervisor { socket: Some(socket), child, pid, lines: Lines::default() })
    }

    /// Runs a command to its end; `turn` is called about ten times a second meanwhile.
    pub fn run(
        &mut self,
        job: &Job,
        interrupt: &Interrupt,
        turn: &mut dyn FnMut(),
    ) -> Result<Ended, SuperviseError> {
        let Some(mut socket) = self.socket.as_ref().and_then(|socket| socket.try_clone().ok()) else {
            return Err(SuperviseError::Lost);
        };
        send(&mut socket, &Order::Run(Box::new(job.clone()))).map_err(|_| self.lost())?;
        let mut said = Said::Nothing;
        loop {
            if self.wait(&socket, interrupt, said) {
                match self.lines.receive(&mut socket) {
                    Ok(Received::Message(Answer::Ended(ended))) => return Ok(ended),
                    Ok(Received::Message(Answer::CouldNotStart(reason))) => {
                        return Err(SuperviseError::Program { program: job.program.to_string(), reason });
                    }
                    Ok(Received::Partial) => {}
                    Ok(Received::Closed) | Err(_) => return Err(self.lost()),
                }
            }
            said = pass_on(interrupt, said, &mut socket);
            turn();
        }
    }

    /// Waits for an answer, an interrupt not yet passed on, or the caller's turn.
    fn wait(&self, socket: &UnixStream, interrupt: &Interrupt, said: Said) -> bool {
        let mut files = vec![PollFd::new(socket, PollFlags::IN)];
        if said < Said::Stop {
            files.push(PollFd::from_borrowed_fd(interrupt.stop_file().as_fd(), PollFlags::IN));
        }
        if said < Said::Kill {
            files.push(PollFd::from_borrowed_fd(interrupt.kill_file().as_fd(), PollFlags::IN));
        }
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(TURN.subsec_nanos()) };
        poll(&mut files, Some(&timeout)).is_ok() && !files[0].revents().is_empty()
    }

    /// The supervisor is gone: nothing that it left may stay.
    fn lost(&mut self) -> SuperviseError {
        self.leave();
        end_strays();
        SuperviseError::Lost
    }

    fn leave(&mut self) {
        self.socket = None;
        let _ = self.child.wait();
        if let (Some(alive), Some(pid)) = (alive().as_mut(), self.pid) {
            alive.remove(&pid);
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if self.socket.is_some() {
            self.leave();
        }
    }
}

/// How much of an interrupt the supervisor has been told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Nothing,
    Stop,
    Kill,
}

fn pass_on(interrupt: &Interrupt, said: Said, socket: &mut UnixStream) -> Said {
    let (order, now) = match said {
        Said::Nothing | Said::Stop if interrupt.is_kill() => (Order::Kill, Said::Kill),
        Said::Nothing if interrupt.is_stop() => (Order::Stop, Said::Stop),
        _ => return said,
    };
    // A supervisor that cannot be told is gone, which the next look at the socket finds out.
    let _ = send(socket, &order);
    now
}

/// This very program, even when its file has been replaced meanwhile.
fn own_program() -> std::path::PathBuf {
    if cfg!(target_os = "linux") {
        return "/proc/self/exe".into();
    }
    std::env::current_exe().unwrap_or_else(|_| "terca".into())
}

impl Ended {
    /// The end of something that was no process at all.
    pub fn without_process(seconds: f64) -> Self {
        Ended { exit: Exit::Code(0), timed_out: false, stopped: false, seconds }
    }
}
