//! Starting supervisors, and ending what a dead one leaves.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::Pid;

use super::keeper::KEEPER;
use super::os;
use super::protocol::{ARGUMENT, ENCLOSED, FILTERED, Job};
use crate::locked;
use crate::process::confine::{Confinement, OWN_PROGRAM};
use crate::process::json_lines::Messages;
use crate::process::open_file_limit;

/// A wall around a supervisor and everything that it starts, made by a program such as bubblewrap.
///
/// The program must end with the supervisor, and the supervisor with the program.
#[derive(Debug, Clone, Default)]
pub struct Enclosure {
    /// The program that makes it, and starts the command that follows its own arguments.
    pub program: Utf8PathBuf,
    /// Its own arguments.
    pub args: Vec<String>,
    /// The file of the supervisor's program, as it is found inside.
    pub supervisor: Utf8PathBuf,
    /// Its processes find the directory of their trial at its fixed path.
    pub has_fixed_root: bool,
    /// Its supervisor lays a [filter](crate::process::call_filter) on itself.
    pub has_filter: bool,
    /// The way out of an enclosure that has a network of its own.
    pub outlet: Option<Arc<dyn Outlet>>,
    /// Set if the supervisor is started by a service, as no child of the program's.
    pub container: Option<Container>,
}

/// A container that a supervisor is the first process of.
#[derive(Debug, Clone)]
pub struct Container {
    /// Its name, which no other has.
    pub name: String,
    /// The environment of the program that asks for it. Nothing of it is the container's.
    pub env: BTreeMap<String, String>,
    /// A directory that is not there yet, which the container has at `inside`, for the socket to the supervisor.
    pub meeting: Utf8PathBuf,
    /// The same directory, as it is found inside.
    pub inside: Utf8PathBuf,
}

/// The time that a process of Terca's own has for a task of milliseconds. After it, the process is taken for stopped.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The name of the socket in the directory of a container.
const SOCKET: &str = "socket";

impl Container {
    /// Makes the socket that the supervisor connects to.
    pub(super) fn listen(&self) -> io::Result<UnixListener> {
        fs_err::create_dir_all(&self.meeting)?;
        let listener = listen_in(&self.meeting)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Takes the socket away: there is one supervisor, and it has connected before anything else is there.
    pub(super) fn take_socket_away(&self) {
        // Nobody listens; the directory goes with the run's.
        let _ = fs_err::remove_file(self.meeting.join(SOCKET));
    }
}

impl Enclosure {
    /// Returns an enclosure whose processes keep these rules, behind walls or not.
    pub fn confined(walls: Option<Enclosure>, confinement: &Confinement) -> Self {
        if let Some(walls) = walls {
            let mut args = confinement.args();
            args.push(walls.program.into_string());
            args.extend(walls.args);
            return Enclosure {
                program: OWN_PROGRAM.into(),
                args,
                ..walls
            };
        }
        Enclosure {
            program: OWN_PROGRAM.into(),
            args: confinement.args(),
            supervisor: OWN_PROGRAM.into(),
            ..Enclosure::default()
        }
    }

    /// Starts the supervisor, which ends at once. The error is its last words, or those of the program that makes the
    /// enclosure.
    pub fn try_out(&self) -> Result<(), String> {
        let in_words = |error: io::Error| error.to_string();
        let (socket, theirs) = UnixStream::pair().map_err(in_words)?;
        socket.shutdown(Shutdown::Write).map_err(in_words)?;
        let mut command = Command::new(&self.program);
        self.add_to(&mut command);
        let command = command.current_dir("/").stdin(OwnedFd::from(theirs));
        let output = command.output().map_err(in_words)?;
        if output.status.success() {
            return Ok(());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let words = errors.trim().lines().last().unwrap_or("it says nothing");
        Err(words.to_owned())
    }

    /// Adds the arguments that make it and start a supervisor in it. Standard error is a pipe.
    fn add_to(&self, command: &mut Command) {
        let limit = open_file_limit::limit_at_start();
        command
            .env_clear()
            .args(&self.args)
            .arg(&self.supervisor)
            .arg(ARGUMENT)
            .arg(limit.map_or_else(|| "-".to_owned(), |limit| limit.to_string()))
            .arg(match self.has_filter {
                true => FILTERED,
                false => ENCLOSED,
            })
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
    }

    /// Returns a command with the paths that it finds, and the enclosure in which it finds the directory of its trial.
    pub fn with_fixed_root(job: Job, walls: Option<Enclosure>) -> (Job, Option<Enclosure>) {
        let Some(root) = &job.fixed_root else {
            return (job, walls);
        };
        let walls = match walls {
            Some(walls) if walls.has_fixed_root => walls,
            walls => {
                let confinement = Confinement {
                    fixed_root: Some(root.clone()),
                    ..Confinement::default()
                };
                Enclosure::confined(walls, &confinement)
            }
        };
        let env = job.env.iter();
        let job = Job {
            program: root.path(&job.program),
            args: job.args.iter().map(|arg| root.text(arg)).collect(),
            env: env
                .map(|(name, value)| (name.clone(), root.text(value)))
                .collect(),
            dir: root.path(&job.dir),
            stdin: job.stdin.as_deref().map(|path| root.path(path)),
            stdout: root.path(&job.stdout),
            stderr: root.path(&job.stderr),
            ..job.clone()
        };
        (job, Some(walls))
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
    /// A line for each container that could not be removed.
    remains: Mutex<Vec<String>>,
}

impl Launcher {
    /// Makes this process the one that orphans of dead supervisors come to. `program` must call
    /// [`serve`](super::serve) when its first argument is [`ARGUMENT`](super::ARGUMENT).
    pub fn new(program: impl Into<PathBuf>) -> Arc<Self> {
        os::become_subreaper();
        Arc::new(Launcher {
            program: program.into(),
            alive: Mutex::default(),
            remains: Mutex::default(),
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
    pub(super) fn spawn(&self) -> io::Result<(Child, Messages)> {
        let mut command = self.own_command();
        command
            .arg(ARGUMENT)
            .args(open_file_limit::limit_at_start().map(|limit| limit.to_string()))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.spawn_with_socket(command)
    }

    /// Starts a supervisor in an enclosure. Returns the process that made the enclosure, which lives as long as the
    /// supervisor, and the socket to talk to it. In a container that is the socket of its keeper, who removes the container
    /// when it is closed. Standard error is a pipe.
    pub(super) fn spawn_in(&self, enclosure: &Enclosure) -> io::Result<(Child, Messages)> {
        let mut command = match &enclosure.container {
            None => Command::new(&enclosure.program),
            Some(container) => {
                let mut command = Command::new(&self.program);
                command
                    .arg0("terca")
                    .arg(KEEPER)
                    .arg(&enclosure.program)
                    .arg(&container.name);
                command
            }
        };
        enclosure.add_to(&mut command);
        if enclosure.program != OWN_PROGRAM {
            // Ctrl+C in the terminal reaches Terca alone, which then decides. Its own program makes itself a session, which
            // the leader of a group cannot do.
            command.process_group(0);
        }
        if let Some(container) = &enclosure.container {
            command
                .arg(container.inside.join(SOCKET))
                .envs(&container.env);
        }
        self.spawn_with_socket(command)
    }

    /// Starts another process of Terca's own, whose input is a socket. One that does not answer in time is an error.
    pub(in crate::process) fn spawn_with_socket(
        &self,
        mut command: Command,
    ) -> io::Result<(Child, Messages)> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut alive = self.alive();
        let child = command
            // Not the suite's, which an agent could look up.
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()?;
        alive.extend(pid_of(&child));
        Ok((child, Messages::new(socket)))
    }

    /// Returns a command that starts this program again, with an empty environment.
    pub(in crate::process) fn own_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg0("terca").env_clear();
        command
    }

    /// Tries whether a process can be confined so.
    pub fn can_confine(&self, confinement: &Confinement) -> bool {
        let mut command = self.own_command();
        command.args(confinement.args()).arg("/bin/true");
        let null = Stdio::null;
        command.stdin(null()).stdout(null()).stderr(null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Starts another process of Terca's own, in a group of its own: it is no stray.
    pub fn spawn_known(&self, command: &mut Command) -> io::Result<Child> {
        let mut alive = self.alive();
        let child = command.process_group(0).spawn()?;
        alive.extend(pid_of(&child));
        Ok(child)
    }

    /// Takes note that a process of Terca's own has ended, and ends what it left behind unless it has done that itself.
    pub fn ended(&self, child: &Child, cleanly: bool) {
        // While this is held no supervisor is started, so that none is taken for a stray.
        let mut alive = self.alive();
        if let Some(pid) = pid_of(child) {
            alive.remove(&pid);
        }
        if !cleanly {
            os::end_children(|pid| !alive.contains(&pid));
        }
    }

    /// Takes note of a container that could not be removed.
    pub(super) fn remains(&self, line: String) {
        locked(&self.remains).push(line);
    }

    /// Returns a line for each container that could not be removed.
    pub fn take_remains(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.remains))
    }

    fn alive(&self) -> MutexGuard<'_, HashSet<Pid>> {
        locked(&self.alive)
    }
}

pub(super) fn pid_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(child.id() as i32)
}

/// Makes a socket in a directory with a path of any length, and listens to it: the kernel's own limit is about a hundred
/// bytes.
fn listen_in(dir: &Utf8Path) -> io::Result<UnixListener> {
    if !cfg!(target_os = "linux") {
        return UnixListener::bind(dir.join(SOCKET));
    }
    let dir = File::open(dir)?;
    UnixListener::bind(format!("/proc/self/fd/{}/{SOCKET}", dir.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_no_obstacle() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(temp.path())
            .unwrap()
            .join("d".repeat(150));
        std::fs::create_dir(&dir).unwrap();
        listen_in(&dir).unwrap();
        assert!(dir.join("socket").exists());
    }
}
