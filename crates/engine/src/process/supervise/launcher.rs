//! Starting supervisors, and ending what a dead one leaves.

use std::collections::HashSet;
use std::fmt::Debug;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::Utf8PathBuf;
use rustix::process::Pid;

use super::os;
use super::protocol::{ARGUMENT, ENCLOSED};
use super::sweep::end_children;
use crate::process::confine::{Confinement, OWN_PROGRAM};
use crate::process::open_file_limit;

/// A wall around a supervisor and everything that it starts, made by a program such as bubblewrap.
///
/// The program must end with the supervisor, and the supervisor with the program.
#[derive(Debug, Clone)]
pub struct Enclosure {
    /// The program that makes it, and starts the command that follows its own arguments.
    pub program: Utf8PathBuf,
    /// Its own arguments.
    pub args: Vec<String>,
    /// The file of the supervisor's program, as it is found inside.
    pub supervisor: Utf8PathBuf,
    /// The way out of an enclosure that has a network of its own.
    pub outlet: Option<Arc<dyn Outlet>>,
}

impl Enclosure {
    /// Returns an enclosure without walls, whose processes keep these rules.
    pub fn without_walls(confinement: &Confinement) -> Self {
        Enclosure {
            program: OWN_PROGRAM.into(),
            args: confinement.args(),
            supervisor: OWN_PROGRAM.into(),
            outlet: None,
        }
    }

    /// Returns this enclosure, made by a program that keeps these rules itself.
    #[must_use]
    pub fn behind(self, confinement: &Confinement) -> Self {
        let mut args = confinement.args();
        args.push(self.program.into_string());
        args.extend(self.args);
        Enclosure {
            program: OWN_PROGRAM.into(),
            args,
            ..self
        }
    }
}

/// The way out of an enclosure that has a network of its own, in which nothing but its loopback is there.
///
/// The supervisor inside listens; this process, outside, accepts the connections and decides where they lead.
pub trait Outlet: Debug + Send + Sync {
    /// Returns the addresses inside that are listened on before the first command is started.
    fn addresses(&self) -> Vec<SocketAddr>;

    /// Takes the listening sockets, in the order of the addresses.
    fn serve(&self, listeners: Vec<TcpListener>) -> io::Result<()>;
}

/// Starts supervisors, and knows which of them are alive.
///
/// A process has one launcher, because orphans of every supervisor that was killed come to the same place: a child of
/// this process that its launcher does not know is taken for one of them and killed.
#[derive(Debug)]
pub struct Launcher {
    program: PathBuf,
    alive: Mutex<HashSet<Pid>>,
}

impl Launcher {
    /// Makes this process the one that orphans of dead supervisors come to. `program` must call
    /// [`serve`](super::serve) when its first argument is [`ARGUMENT`](super::ARGUMENT).
    pub fn new(program: impl Into<PathBuf>) -> Arc<Self> {
        os::become_subreaper();
        Arc::new(Launcher {
            program: program.into(),
            alive: Mutex::default(),
        })
    }

    /// Starts supervisors from the program that is running, even when its file has been replaced meanwhile.
    pub fn of_this_program() -> Arc<Self> {
        if cfg!(target_os = "linux") {
            return Launcher::new("/proc/self/exe");
        }
        Launcher::new(std::env::current_exe().unwrap_or_else(|_| "terca".into()))
    }

    /// Starts a supervisor. Returns the process, and the socket to talk to it.
    pub(super) fn spawn(&self) -> io::Result<(Child, UnixStream)> {
        let mut command = Command::new(&self.program);
        command
            .arg0("terca")
            .arg(ARGUMENT)
            .args(open_file_limit::limit_at_start().map(|limit| limit.to_string()))
            .stderr(Stdio::null());
        self.spawn_with_socket(command)
    }

    /// Starts a supervisor in an enclosure. Returns the process that made the enclosure, which lives as long as the
    /// supervisor, and the socket to talk to the supervisor. Its standard error is a pipe.
    pub(super) fn spawn_in(&self, enclosure: &Enclosure) -> io::Result<(Child, UnixStream)> {
        let limit = open_file_limit::limit_at_start();
        let mut command = Command::new(&enclosure.program);
        command
            .args(&enclosure.args)
            .arg(&enclosure.supervisor)
            .arg(ARGUMENT)
            .arg(limit.map_or_else(|| "-".to_owned(), |limit| limit.to_string()))
            .arg(ENCLOSED)
            .stderr(Stdio::piped());
        if enclosure.program != OWN_PROGRAM {
            // Ctrl+C in the terminal reaches Terca alone, which then decides. Its own program makes itself a session, which
            // the leader of a group cannot do.
            command.process_group(0);
        }
        self.spawn_with_socket(command)
    }

    fn spawn_with_socket(&self, mut command: Command) -> io::Result<(Child, UnixStream)> {
        let (socket, theirs) = UnixStream::pair()?;
        let mut alive = self.alive();
        let child = command
            .env_clear()
            // Not the suite's, which an agent could look up.
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()?;
        alive.extend(pid_of(&child));
        Ok((child, socket))
    }

    /// Takes note that a supervisor has ended, and ends what it left behind unless it has done that itself.
    pub(super) fn ended(&self, supervisor: &Child, cleanly: bool) {
        // While this is held no supervisor is started, so that none is taken for a stray.
        let mut alive = self.alive();
        if let Some(pid) = pid_of(supervisor) {
            alive.remove(&pid);
        }
        if !cleanly {
            end_children(|pid| !alive.contains(&pid));
        }
    }

    fn alive(&self) -> MutexGuard<'_, HashSet<Pid>> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn pid_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(child.id() as i32)
}
