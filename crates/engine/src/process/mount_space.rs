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
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

use super::confine::Confinement;
use super::json_lines::{Messages, receive, send};
pub use super::mount_holder::OverlayMount;
use super::mount_holder::{AGAIN, ARGUMENT, NEW, Request, Response};
use super::supervise::Launcher;

use crate::locked;
use crate::tree::NOT_LISTED;

/// The mount namespace of a run. It ends with this value and the last process in it.
#[derive(Debug)]
pub struct MountSpace {
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
    launcher: Arc<Launcher>,
    child: Child,
    socket: Messages,
}

impl MountSpace {
    /// Makes a namespace. The error says why this machine does not let us.
    pub fn make(launcher: &Arc<Launcher>) -> io::Result<Self> {
        let holder = Holder::start(launcher, None)?;
        let (root, namespaces) = open_namespaces(holder.child.id())?;
        Ok(MountSpace {
            holder: Mutex::new(holder),
            namespaces,
            root,
        })
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
        *holder = Holder::start(&holder.launcher, Some(&self.namespaces))?;
        Ok(())
    }

    fn holder(&self) -> MutexGuard<'_, Holder> {
        locked(&self.holder)
    }
}

impl Holder {
    /// Starts a holder of new namespaces, or of those that are given.
    fn start(launcher: &Arc<Launcher>, given: Option<&Namespaces>) -> io::Result<Self> {
        let mut command = launcher.own_command();
        let dup = |handle: &OwnedFd| Ok::<_, io::Error>(Stdio::from(handle.try_clone()?));
        let mode = if given.is_some() { AGAIN } else { NEW };
        let users = given.and_then(|given| given.users.as_ref());
        command
            .args([ARGUMENT, mode])
            .stdout(given.map_or_else(|| Ok(Stdio::null()), |given| dup(&given.mounts))?)
            .stderr(users.map_or_else(|| Ok(Stdio::null()), dup)?);
        let (child, socket) = launcher.spawn_with_socket(command)?;
        let mut holder = Holder {
            launcher: launcher.clone(),
            child,
            socket,
        };
        receive::<Response>(&mut holder.socket)?.map_err(io::Error::other)?;
        Ok(holder)
    }

    /// Asks, and waits for the answer. The inner error is the reason why something was not done.
    fn ask(&mut self, request: &Request) -> io::Result<Response> {
        send(&mut self.socket, request)?;
        receive(&mut self.socket)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // It has nothing to tidy up, and one that an agent stopped would not hear of a closed socket.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.launcher.ended(&self.child, true);
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
    Ok((open("root", NOT_LISTED | OFlags::DIRECTORY)?, namespaces))
}
