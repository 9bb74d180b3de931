//! The mount namespace of a run, in which the workspaces of its trials are overlays.
//!
//! ```text
//! Terca ──socket──► holder      made the namespace, mounts and unmounts in it, ends when the socket closes
//!   │                  ▲
//!   │ here(path)       │ joins before it becomes a supervisor or a sandbox (`process::confine`)
//!   ▼                  │
//! files of a workspace, through the namespace's root directory, which Terca has open
//! ```
//!
//! The kernel unmounts everything when the last process in the namespace is gone, so nothing is left mounted when Terca
//! is killed. Terca itself stays outside: in a user namespace of its own, `ssh` and `git` distrust the machine's files,
//! and rootless containers cannot be started.
//!
//! An agent of the same user can kill or stop the holder. Terca holds the namespaces open, and starts another one.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

use super::confine::Confinement;
use super::json_lines::{Lines, Received, send};
pub use super::mount_holder::OverlayMount;
use super::mount_holder::{AGAIN, ARGUMENT, NEW, Request, Response};
use super::supervise::Launcher;

use crate::locked;

/// The time for a task of milliseconds. After it, the holder is taken for stopped.
const PATIENCE: Duration = Duration::from_secs(10);

/// The mount namespace of a run. It ends with this value and the last process in it.
#[derive(Debug)]
pub struct MountSpace {
    launcher: Arc<Launcher>,
    holder: Mutex<Holder>,
    namespaces: Namespaces,
    /// The root directory of the namespace.
    root: OwnedFd,
}

/// The namespaces, which stay for as long as they are open.
#[derive(Debug)]
struct Namespaces {
    mounts: OwnedFd,
    /// Only the superuser does without.
    users: Option<OwnedFd>,
}

#[derive(Debug)]
struct Holder {
    child: Child,
    socket: UnixStream,
    lines: Lines,
}

impl MountSpace {
    /// Makes a namespace. The error says why this machine does not let us.
    pub fn make(launcher: &Arc<Launcher>) -> io::Result<Self> {
        let mut holder = Holder::start(launcher, None)?;
        match open_namespaces(holder.child.id()) {
            Ok((root, namespaces)) => Ok(MountSpace {
                launcher: launcher.clone(),
                holder: Mutex::new(holder),
                namespaces,
                root,
            }),
            Err(error) => {
                holder.kill(launcher);
                Err(error)
            }
        }
    }

    /// Returns the way to a path of the namespace, for this process alone.
    pub fn here(&self, path: &Utf8Path) -> Utf8PathBuf {
        Utf8PathBuf::from(format!("/proc/self/fd/{}{path}", self.root.as_raw_fd()))
    }

    /// Returns the way to a path of the namespace for other programs of the user, while the holder lives.
    pub fn elsewhere(&self, path: &Utf8Path) -> Utf8PathBuf {
        Utf8PathBuf::from(format!("/proc/{}/root{path}", self.holder().child.id()))
    }

    /// Returns the rules that put a process and everything that it starts into the namespace.
    pub fn confinement(&self) -> io::Result<Confinement> {
        let mut holder = self.holder();
        if holder.child.try_wait()?.is_some() {
            self.replace(&mut holder)?;
        }
        Ok(Confinement {
            mounts_of: Some(holder.child.id()),
            ..Confinement::default()
        })
    }

    /// Mounts an overlay.
    pub fn mount(&self, overlay: OverlayMount) -> io::Result<()> {
        self.ask(&Request::Mount(overlay))
    }

    /// Unmounts what is at a place, with everything that is mounted in it.
    pub fn unmount(&self, at: &Utf8Path) -> io::Result<()> {
        self.ask(&Request::Unmount { at: at.to_owned() })
    }

    fn ask(&self, request: &Request) -> io::Result<()> {
        let mut holder = self.holder();
        let answer = match holder.ask(request) {
            Ok(answer) => answer,
            Err(_) => {
                // It was killed or stopped.
                self.replace(&mut holder)?;
                holder.ask(request)?
            }
        };
        answer.map_err(io::Error::other)
    }

    fn replace(&self, holder: &mut Holder) -> io::Result<()> {
        let new = Holder::start(&self.launcher, Some(&self.namespaces))?;
        std::mem::replace(holder, new).kill(&self.launcher);
        Ok(())
    }

    fn holder(&self) -> MutexGuard<'_, Holder> {
        locked(&self.holder)
    }
}

impl Drop for MountSpace {
    fn drop(&mut self) {
        let holder = self
            .holder
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        holder.kill(&self.launcher);
    }
}

impl Holder {
    /// Starts a holder of new namespaces, or of those that are given.
    fn start(launcher: &Arc<Launcher>, given: Option<&Namespaces>) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut command = launcher.own_command();
        let dup = |handle: &OwnedFd| Ok::<_, io::Error>(Stdio::from(handle.try_clone()?));
        let mode = if given.is_some() { AGAIN } else { NEW };
        let users = given.and_then(|given| given.users.as_ref());
        command
            .args([ARGUMENT, mode])
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(given.map_or_else(|| Ok(Stdio::null()), |given| dup(&given.mounts))?)
            .stderr(users.map_or_else(|| Ok(Stdio::null()), dup)?);
        let child = launcher.spawn_known(&mut command)?;
        // The command has the other end of the socket, which must close with the process.
        drop(command);
        let mut holder = Holder {
            child,
            socket,
            lines: Lines::default(),
        };
        let answer = holder.answer();
        match answer.and_then(|answer| answer.map_err(io::Error::other)) {
            Ok(()) => Ok(holder),
            Err(error) => {
                holder.kill(launcher);
                Err(error)
            }
        }
    }

    fn ask(&mut self, request: &Request) -> io::Result<Response> {
        send(&mut self.socket, request)?;
        self.answer()
    }

    /// Waits for an answer. The inner error is the reason why something was not done.
    fn answer(&mut self) -> io::Result<Response> {
        loop {
            match self.lines.receive(&mut self.socket)? {
                Received::Message(response) => return Ok(response),
                Received::Partial => {}
                Received::Closed => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    fn kill(&mut self, launcher: &Launcher) {
        // It has nothing to tidy up, and one that an agent stopped would not hear of a closed socket.
        let _ = self.child.kill();
        let _ = self.child.wait();
        launcher.forget(&self.child);
    }
}

/// Opens the root directory and the namespaces of a process.
fn open_namespaces(process: u32) -> io::Result<(OwnedFd, Namespaces)> {
    let open = |name: &str, flags| {
        let path = format!("/proc/{process}/{name}");
        rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())
    };
    let users = (!geteuid().is_root()).then(|| open("ns/user", OFlags::RDONLY));
    let namespaces = Namespaces {
        mounts: open("ns/mnt", OFlags::RDONLY)?,
        users: users.transpose()?,
    };
    Ok((open("root", OFlags::PATH | OFlags::DIRECTORY)?, namespaces))
}
