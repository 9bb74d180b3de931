//! Terca's end of a supervisor.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;
use terca_core::process::Exit;
use thiserror::Error;

use super::os;
use super::protocol::{Answer, Ended, Job, Lines, Order, Received, send};
use super::sweep::end_children;
use crate::process::interrupt::Interrupt;
use crate::process::open_file_limit;

/// How often a caller gets a turn while a command runs.
const TURN: Duration = Duration::from_millis(100);
/// How long a supervisor may take for what takes it milliseconds, before it is taken for stopped or stuck.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Error)]
pub enum SuperviseError {
    #[error("the supervisor could not be started: {0}")]
    Start(#[source] io::Error),
    #[error("the supervisor ended unexpectedly; every process below it was ended")]
    Lost,
    #[error("the supervisor did not answer in time; every process below it was ended")]
    Stuck,
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
fn end_strays() {
    // While this is held no supervisor is started, so that none is taken for a stray.
    let alive = alive();
    end_children(|pid| !alive.as_ref().is_some_and(|alive| alive.contains(&pid)));
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
            .arg0("terca")
            .arg(super::ARGUMENT)
            .args(open_file_limit::limit_at_start().map(|limit| limit.to_string()))
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(SuperviseError::Start)?;
        let pid = Pid::from_raw(child.id() as i32);
        alive.get_or_insert_default().extend(pid);
        Ok(Supervisor {
            socket: Some(socket),
            child,
            pid,
            lines: Lines::default(),
        })
    }

    /// Runs a command to its end; `turn` is called about ten times a second meanwhile, and again at once when it says
    /// that it has more to do.
    pub fn run(
        &mut self,
        job: &Job,
        interrupt: &Interrupt,
        turn: &mut dyn FnMut() -> bool,
    ) -> Result<Ended, SuperviseError> {
        self.tell(&Order::Run(Box::new(job.clone())))?;
        let mut said = Said::Nothing;
        // All limits are kept by the supervisor; if it cannot, because the agent stopped it, this is the end.
        let allowed = job
            .timeout
            .saturating_add(job.grace)
            .saturating_add(PATIENCE);
        let mut last_moment = Instant::now().checked_add(allowed);
        let mut patience = TURN;
        loop {
            match self.hear(interrupt, said, patience)? {
                Some(Answer::Ended(ended)) => return Ok(ended),
                Some(Answer::CouldNotStart(reason)) => {
                    return Err(SuperviseError::Program {
                        program: job.program.to_string(),
                        reason,
                    });
                }
                Some(Answer::Swept { .. } | Answer::Resting { .. }) | None => {}
            }
            let news = next_word(interrupt, said);
            if let Some((order, now)) = news {
                self.tell(&order)?;
                said = now;
                last_moment = Instant::now().checked_add(job.grace.saturating_add(PATIENCE));
            }
            if last_moment.is_some_and(|moment| Instant::now() >= moment) {
                return Err(self.give_up(SuperviseError::Stuck));
            }
            patience = if turn() { Duration::ZERO } else { TURN };
        }
    }

    /// Ends everything that commands have left running. Returns how many could not be ended.
    pub fn sweep(&mut self, interrupt: &Interrupt) -> Result<usize, SuperviseError> {
        self.ask(&Order::Sweep, interrupt, |answer| match answer {
            Answer::Swept { left_behind } => Some(left_behind),
            _ => None,
        })
    }

    /// Ends everything that is left. Says whether it may look after another trial.
    pub(super) fn rest(&mut self, interrupt: &Interrupt) -> bool {
        if self.socket.is_none() {
            return false;
        }
        let rested = self.ask(&Order::Rest, interrupt, |answer| match answer {
            Answer::Resting { as_new } => Some(as_new),
            _ => None,
        });
        rested.unwrap_or(false)
    }

    /// What takes the supervisor milliseconds.
    fn ask<T>(
        &mut self,
        order: &Order,
        interrupt: &Interrupt,
        answered: impl Fn(Answer) -> Option<T>,
    ) -> Result<T, SuperviseError> {
        self.tell(order)?;
        let started = Instant::now();
        loop {
            if let Some(answer) = self.hear(interrupt, Said::Kill, TURN)?.and_then(&answered) {
                return Ok(answer);
            }
            if started.elapsed() >= PATIENCE {
                return Err(self.give_up(SuperviseError::Stuck));
            }
        }
    }

    fn tell(&mut self, order: &Order) -> Result<(), SuperviseError> {
        let sent = self.socket.as_mut().map(|socket| send(socket, order));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.give_up(SuperviseError::Lost)),
        }
    }

    /// Waits for an answer, an interrupt not yet passed on, or the caller's turn.
    fn hear(
        &mut self,
        interrupt: &Interrupt,
        said: Said,
        patience: Duration,
    ) -> Result<Option<Answer>, SuperviseError> {
        let Some(socket) = &mut self.socket else {
            return Err(SuperviseError::Lost);
        };
        let mut files = vec![PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)];
        if said < Said::Stop {
            files.push(PollFd::from_borrowed_fd(
                interrupt.stop_file().as_fd(),
                PollFlags::IN,
            ));
        }
        if said < Said::Kill {
            files.push(PollFd::from_borrowed_fd(
                interrupt.kill_file().as_fd(),
                PollFlags::IN,
            ));
        }
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        let heard = poll(&mut files, Some(&timeout)).is_ok() && !files[0].revents().is_empty();
        if !heard {
            return Ok(None);
        }
        match self.lines.receive(socket) {
            Ok(Received::Message(answer)) => Ok(Some(answer)),
            Ok(Received::Partial) => Ok(None),
            Ok(Received::Closed) | Err(_) => Err(self.give_up(SuperviseError::Lost)),
        }
    }

    /// The supervisor is gone or good for nothing: nothing that it looked after may stay.
    fn give_up(&mut self, why: SuperviseError) -> SuperviseError {
        let _ = self.child.kill();
        self.leave();
        why
    }

    /// Closes the socket, which ends everything, and waits for that.
    fn leave(&mut self) {
        self.socket = None;
        if !self.ends_in_time() {
            let _ = self.child.kill();
        }
        let ended_well = self.child.wait().is_ok_and(|status| status.success());
        if let (Some(alive), Some(pid)) = (alive().as_mut(), self.pid) {
            alive.remove(&pid);
        }
        if !ended_well {
            end_strays();
        }
    }

    fn ends_in_time(&self) -> bool {
        // Without a watch there is nothing to wait with but `wait` itself.
        let Some(exit) = self.pid.and_then(os::exit_watch) else {
            return true;
        };
        let timeout = Timespec {
            tv_sec: PATIENCE.as_secs() as i64,
            tv_nsec: 0,
        };
        poll(&mut [PollFd::new(&exit, PollFlags::IN)], Some(&timeout)).is_ok_and(|ready| ready > 0)
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

/// What is to be passed on of an interrupt, if anything.
fn next_word(interrupt: &Interrupt, said: Said) -> Option<(Order, Said)> {
    match said {
        Said::Nothing | Said::Stop if interrupt.is_kill() => Some((Order::Kill, Said::Kill)),
        Said::Nothing if interrupt.is_stop() => Some((Order::Stop, Said::Stop)),
        _ => None,
    }
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
    pub fn without_process(left_behind: usize) -> Self {
        Ended {
            exit: Exit::Code(0),
            timed_out: false,
            stopped: false,
            seconds: 0.0,
            left_behind,
        }
    }
}
