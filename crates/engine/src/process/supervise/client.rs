//! Terca's side of a supervisor.

use std::io::{self, Read};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Pid;
use terca_core::process::Exit;
use thiserror::Error;

use super::keeper::{self, KILLED, NOT_REMOVED};
use super::launcher::{Container, Enclosure, Launcher, PATIENCE, pid_of};
use super::protocol::{Ended, Job, Request, Response, Swept};
use super::{os, passed_sockets};
use crate::process::interrupt::Interrupt;
use crate::process::json_lines::{Messages, receive, send};
use crate::process::pause::Stopwatch;

/// The time between two turns of the caller while a command runs.
const TURN: Duration = Duration::from_millis(100);
/// The time for an enclosure to be made, on a machine that is very busy.
const PATIENCE_AT_START: Duration = Duration::from_secs(60);
/// The most that is read of the errors of a program.
const MOST_ERRORS: u64 = 64 * 1024;

/// A command could not be run under a supervisor.
#[derive(Debug, Error)]
pub enum SuperviseError {
    /// The machine refused to start a supervisor.
    #[error("the supervisor could not be started: {0}")]
    Start(#[source] io::Error),
    /// The supervisor was killed, usually by what it looked after.
    #[error("the supervisor ended unexpectedly; all its processes were ended")]
    Lost,
    /// The supervisor was stopped, or hangs.
    #[error("the supervisor did not answer in time; all its processes were ended")]
    Stuck,
    /// The enclosure of a supervisor could not be made.
    #[error("the sandbox could not be made: {0}")]
    Enclosure(String),
    /// The network of an enclosure could not be made.
    #[error("the network of the sandbox could not be made: {0}")]
    Network(#[source] io::Error),
    /// The command's program could not be started.
    #[error("`{program}` could not be started: {reason}")]
    Program {
        /// The program as it was asked for.
        program: String,
        /// The system's words.
        reason: String,
    },
}

/// The wish of the caller after its turn while a command runs. The strongest is the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Nothing to do for a moment.
    Wait,
    /// There is more to do at once.
    Again,
    /// The command is to be asked to end, as at the end of its time.
    Stop,
    /// The command is to be ended at once.
    Kill,
}

/// A supervisor that runs. Dropping it ends everything below it.
#[derive(Debug)]
pub struct Supervisor {
    launcher: Arc<Launcher>,
    /// `None` once it has ended.
    connection: Option<Connection>,
    /// It has ended because it was killed, and not by itself.
    was_killed: bool,
}

#[derive(Debug)]
struct Connection {
    socket: Messages,
    child: Child,
    /// The keeper's end of a container.
    keeper: Option<Keeper>,
}

/// The hold on the keeper of a container, which is the child.
#[derive(Debug)]
struct Keeper {
    /// The container's name.
    name: String,
    /// It removes the container when this is closed.
    leash: Messages,
    errors: Option<ChildStderr>,
}

impl Supervisor {
    /// Starts a supervisor.
    pub fn start(launcher: &Arc<Launcher>) -> Result<Self, SuperviseError> {
        let (child, socket) = launcher.spawn().map_err(SuperviseError::Start)?;
        Ok(Supervisor::new(launcher, child, socket, None))
    }

    fn new(
        launcher: &Arc<Launcher>,
        child: Child,
        socket: Messages,
        keeper: Option<Keeper>,
    ) -> Self {
        Supervisor {
            launcher: launcher.clone(),
            connection: Some(Connection {
                socket,
                child,
                keeper,
            }),
            was_killed: false,
        }
    }

    /// Starts a supervisor in an enclosure, and waits until it is there.
    pub fn start_in(
        launcher: &Arc<Launcher>,
        enclosure: &Enclosure,
        interrupt: &Interrupt,
    ) -> Result<Self, SuperviseError> {
        let not_made = |error: io::Error| SuperviseError::Enclosure(error.to_string());
        let container = enclosure.container.as_ref();
        let listener = container.map(Container::listen).transpose();
        let listener = listener.map_err(not_made)?;
        let (mut child, mut socket) = launcher.spawn_in(enclosure).map_err(not_made)?;
        let mut errors = child.stderr.take();
        let started = Stopwatch::start();
        let mut keeper = None;
        if let (Some(container), Some(listener)) = (container, listener) {
            let met = meet(&listener, &mut child);
            container.take_socket_away();
            match met {
                Ok(inside) => {
                    keeper = Some(Keeper {
                        name: container.name.clone(),
                        leash: std::mem::replace(&mut socket, Messages::new(inside)),
                        errors: errors.take(),
                    });
                }
                Err(why) => {
                    drop(socket);
                    ends_in_time(&child, keeper::PATIENCE);
                    let _ = child.kill();
                    let _ = child.wait();
                    launcher.ended(&child, false);
                    let words = match why.kind() {
                        io::ErrorKind::TimedOut => "it took too long".to_owned(),
                        _ => last_words(errors),
                    };
                    return Err(SuperviseError::Enclosure(words));
                }
            }
        }
        let mut supervisor = Supervisor::new(launcher, child, socket, keeper);
        loop {
            match supervisor.receive(interrupt, Turn::Kill, TURN) {
                Ok(Some(Response::Ready)) => break,
                Ok(_) if started.elapsed() < PATIENCE_AT_START => {}
                Ok(_) => {
                    supervisor.give_up(SuperviseError::Stuck);
                    return Err(SuperviseError::Enclosure("it took too long".to_owned()));
                }
                Err(_) => return Err(SuperviseError::Enclosure(last_words(errors))),
            }
        }
        if let Some(outlet) = &enclosure.outlet {
            let served = supervisor
                .listen(outlet.addresses())
                .and_then(|listeners| outlet.serve(listeners));
            if let Err(error) = served {
                supervisor.give_up(SuperviseError::Stuck);
                return Err(SuperviseError::Network(error));
            }
        }
        Ok(supervisor)
    }

    /// Asks for sockets that listen inside of the enclosure.
    fn listen(&mut self, addresses: Vec<SocketAddr>) -> io::Result<Vec<TcpListener>> {
        let count = addresses.len();
        let Some(connection) = &mut self.connection else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        send(&mut connection.socket, &Request::Listen(addresses))?;
        let listeners = passed_sockets::receive(connection.socket.get_ref(), PATIENCE)?;
        if listeners.len() == count {
            Ok(listeners)
        } else {
            Err(io::Error::other("the supervisor passed too few sockets"))
        }
    }

    /// Returns its process, or the one that made its enclosure: all that it starts is below.
    pub(super) fn root(&self) -> Option<Pid> {
        pid_of(&self.connection.as_ref()?.child)
    }

    /// Returns whether its process is gone.
    pub(super) fn has_ended(&mut self) -> bool {
        match &mut self.connection {
            Some(connection) => !matches!(connection.child.try_wait(), Ok(None)),
            None => true,
        }
    }

    /// Moves the running supervisor out, and leaves one that has ended.
    pub(super) fn take(&mut self) -> Self {
        Supervisor {
            launcher: self.launcher.clone(),
            connection: self.connection.take(),
            was_killed: false,
        }
    }

    /// Runs a command to its end. `on_turn` is called about ten times a second meanwhile, and again at once when it
    /// returns that there is more to do. A command that it has stopped ends like one that was interrupted.
    ///
    /// A command that kills or stops its supervisor has ended like any other, by a signal: everything below is gone. An agent
    /// must not be able to make an error of its trial, which would be tried again. That the kernel kills supervisors for
    /// want of memory looks the same, unless nothing inside of the enclosure can kill it. There, one that ends in another way
    /// than by a kill was brought to it from inside: by other limits, which the agent may set.
    pub fn run(
        &mut self,
        job: &Job,
        interrupt: &Interrupt,
        on_turn: &mut dyn FnMut() -> Turn,
    ) -> Result<Ended, SuperviseError> {
        let started = Stopwatch::start();
        let is_stuck = match self.run_to_its_end(job, interrupt, on_turn) {
            Err(SuperviseError::Lost) => false,
            Err(SuperviseError::Stuck) => true,
            result => return result,
        };
        let stopped = interrupt.is_stop();
        Ok(Ended {
            exit: Exit::Signal(9),
            timed_out: is_stuck && !stopped,
            stopped,
            seconds: started.elapsed().as_secs_f64(),
            lost: true,
            killed_from_outside: self.was_killed,
            ..Ended::without_process(0)
        })
    }

    fn run_to_its_end(
        &mut self,
        job: &Job,
        interrupt: &Interrupt,
        on_turn: &mut dyn FnMut() -> Turn,
    ) -> Result<Ended, SuperviseError> {
        self.send(&Request::Run(Box::new(job.clone())))?;
        // Waiting, in whatever way, needs no message.
        let mut passed = Turn::Again;
        let mut pausable = interrupt.pausable();
        // All limits are kept by the supervisor; if it cannot, because the agent stopped it, this is the end.
        let mut allowed = job
            .timeout
            .saturating_add(job.grace)
            .saturating_add(PATIENCE);
        let mut since = Stopwatch::start();
        let mut patience = TURN;
        loop {
            match self.receive(interrupt, passed, patience)? {
                Some(Response::Ended(ended)) => return Ok(ended),
                Some(Response::CouldNotStart(reason)) => {
                    return Err(SuperviseError::Program {
                        program: job.program.to_string(),
                        reason,
                    });
                }
                _ => {}
            }
            if let Some(begins) = pausable.news() {
                self.send(&Request::Pause(begins))?;
                pausable.told(begins);
            }
            let turn = on_turn();
            let wanted = match turn {
                _ if interrupt.is_kill() => Turn::Kill,
                _ if interrupt.is_stop() => turn.max(Turn::Stop),
                turn => turn,
            };
            if wanted > passed {
                self.send(match wanted {
                    Turn::Kill => &Request::Kill,
                    _ => &Request::Stop,
                })?;
                passed = wanted;
                since = Stopwatch::start();
                allowed = job.grace.saturating_add(PATIENCE);
            }
            if since.elapsed() >= allowed {
                return Err(self.give_up(SuperviseError::Stuck));
            }
            patience = match turn {
                Turn::Again => Duration::ZERO,
                _ => TURN,
            };
        }
    }

    /// Ends everything that commands have left running, which takes milliseconds.
    pub fn sweep(&mut self, interrupt: &Interrupt) -> Result<Swept, SuperviseError> {
        self.send(&Request::Sweep)?;
        let started = Stopwatch::start();
        loop {
            if let Some(Response::Swept(swept)) = self.receive(interrupt, Turn::Kill, TURN)? {
                return Ok(swept);
            }
            if started.elapsed() >= PATIENCE {
                return Err(self.give_up(SuperviseError::Stuck));
            }
        }
    }

    fn send(&mut self, request: &Request) -> Result<(), SuperviseError> {
        let sent = self
            .connection
            .as_mut()
            .map(|connection| send(&mut connection.socket, request));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.give_up(SuperviseError::Lost)),
        }
    }

    /// Waits for a response, an interrupt that is not yet passed on, or the caller's turn.
    fn receive(
        &mut self,
        interrupt: &Interrupt,
        passed: Turn,
        patience: Duration,
    ) -> Result<Option<Response>, SuperviseError> {
        let Some(Connection { socket, .. }) = &mut self.connection else {
            return Err(SuperviseError::Lost);
        };
        let mut files = vec![socket.get_ref().as_fd()];
        if passed < Turn::Stop {
            files.push(interrupt.stop_file().as_fd());
        }
        if passed < Turn::Kill {
            files.push(interrupt.kill_file().as_fd());
        }
        if !os::wait_for(&files, patience) {
            return Ok(None);
        }
        match receive(socket) {
            Ok(response) => Ok(Some(response)),
            Err(_) => Err(self.give_up(SuperviseError::Lost)),
        }
    }

    /// Kills a supervisor that is gone or of no use: nothing that it looked after may stay.
    fn give_up(&mut self, why: SuperviseError) -> SuperviseError {
        if let Some(mut connection) = self.connection.take() {
            // What holds a sandbox tells how its first process ended, if it is left alone.
            let is_over =
                matches!(why, SuperviseError::Lost) && ends_in_time(&connection.child, PATIENCE);
            match &connection.keeper {
                _ if is_over => {}
                Some(keeper) => keeper.cut(),
                None => {
                    let _ = connection.child.kill();
                }
            }
            let status = connection.close(&self.launcher);
            let is_kill =
                |status: ExitStatus| status.signal() == Some(9) || status.code() == Some(KILLED);
            self.was_killed = is_over && status.is_some_and(is_kill);
        }
        why
    }
}

impl Connection {
    /// Closes the socket, which ends everything, and waits for that.
    fn close(self, launcher: &Launcher) -> Option<ExitStatus> {
        let Connection {
            socket,
            mut child,
            keeper,
        } = self;
        drop(socket);
        let mut in_time = ends_in_time(&child, PATIENCE);
        if let (false, Some(keeper)) = (in_time, &keeper) {
            keeper.cut();
            in_time = ends_in_time(&child, keeper::PATIENCE + PATIENCE);
        }
        if !in_time {
            let _ = child.kill();
        }
        let status = child.wait();
        let cleanly = status.as_ref().is_ok_and(std::process::ExitStatus::success);
        launcher.ended(&child, cleanly);
        if let Some(keeper) = keeper {
            let code = status.as_ref().ok().and_then(ExitStatus::code);
            if code == Some(NOT_REMOVED) {
                launcher.remains(last_words(keeper.errors));
            } else if !in_time {
                launcher.remains(format!(
                    "the container {}, which may still be there",
                    keeper.name
                ));
            }
        }
        status.ok()
    }
}

impl Keeper {
    /// Asks the keeper to remove the container at once.
    fn cut(&self) {
        // Fails if the keeper is gone.
        let _ = self.leash.get_ref().shutdown(Shutdown::Both);
    }
}

/// Waits until the supervisor in a container connects.
fn meet(listener: &UnixListener, child: &mut Child) -> io::Result<UnixStream> {
    let started = Stopwatch::start();
    loop {
        match listener.accept() {
            Ok((socket, _)) => {
                socket.set_nonblocking(false)?;
                return Ok(socket);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if child.try_wait()?.is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if started.elapsed() >= PATIENCE_AT_START {
            return Err(io::ErrorKind::TimedOut.into());
        }
        // Woken early or not, it looks again.
        os::wait_for(&[listener.as_fd()], TURN);
    }
}

/// Returns the last line that a program has written before it ended.
fn last_words(errors: Option<ChildStderr>) -> String {
    let mut text = Vec::new();
    if let Some(errors) = errors {
        // What could not be read is not known.
        let _ = errors.take(MOST_ERRORS).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    match text.trim().lines().last() {
        Some(line) => line.to_owned(),
        None => "its program ended without a word".to_owned(),
    }
}

pub(super) fn ends_in_time(child: &Child, patience: Duration) -> bool {
    // Without a watch there is nothing to wait with but `wait` itself.
    let Some(exit) = pid_of(child).and_then(os::exit_watch) else {
        return true;
    };
    os::wait_for(&[exit.as_fd()], patience)
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close(&self.launcher);
        }
    }
}

impl Ended {
    /// Returns the end of work that needed no process.
    pub fn without_process(left_behind: usize) -> Self {
        Ended {
            exit: Exit::Code(0),
            timed_out: false,
            stopped: false,
            seconds: 0.0,
            left_behind,
            lost: false,
            killed_from_outside: false,
        }
    }
}
