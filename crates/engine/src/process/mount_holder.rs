//! The process that makes a mount namespace, and mounts and unmounts in it: the same program once more.
//!
//! As the superuser it needs a mount namespace alone. Another user may mount in a user namespace, in which this user is
//! the only one. Programs that join the namespaces have no rights in them: only the process that made them does.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::json_lines::{Messages, receive, send};

/// The hidden first argument that makes the program a holder of mounts.
pub(super) const ARGUMENT: &str = "__mounts";
/// The second argument: it makes the namespaces.
pub(super) const NEW: &str = "new";
/// The second argument: it takes the place of one that died. Standard output is the mount namespace, and standard error
/// the user namespace, if there is one.
pub(super) const AGAIN: &str = "again";

/// A message to the holder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Request {
    /// Mount an overlay.
    Mount(OverlayMount),
    /// Unmount what is at a place, with everything that is mounted in it.
    Unmount { at: Utf8PathBuf },
}

/// An overlay to mount.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OverlayMount {
    /// The directory that the names of layers are in. The list of mounts shows no other names.
    pub dir: Utf8PathBuf,
    /// The options, with the names of the layers.
    pub options: String,
    /// The place to mount it at.
    pub at: Utf8PathBuf,
}

/// A message from the holder: it is ready, or has done what it was asked for, or the reason why not.
pub(super) type Response = Result<(), String>;

/// Holds a namespace, if the program was started for it.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1);
    if args.next()? != ARGUMENT {
        return None;
    }
    // Nobody is left to tell how it ended.
    let _ = serve(&args.next().unwrap_or_default());
    Some(ExitCode::SUCCESS)
}

fn serve(mode: &str) -> io::Result<()> {
    // A session of its own: Ctrl+C in the terminal reaches Terca alone.
    let _ = rustix::process::setsid();
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut socket = Messages::new(socket);
    answer(&mut socket, os::enter_as_holder(mode == NEW))?;
    loop {
        let request = receive(&mut socket)?;
        answer(&mut socket, os::perform(&request))?;
    }
}

fn answer(socket: &mut Messages, done: io::Result<()>) -> io::Result<()> {
    let response: Response = done.map_err(|error| error.to_string());
    send(socket, &response)
}

#[cfg(target_os = "linux")]
pub(super) mod os {
    use std::collections::BTreeSet;
    use std::ffi::CString;
    use std::io;
    use std::os::fd::AsFd;

    use camino::{Utf8Path, Utf8PathBuf};
    use nix::sched::{CloneFlags, setns, unshare};
    use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount_change};
    use rustix::process::{getegid, geteuid};

    use super::Request;

    /// Makes the namespaces of a run, or enters those that standard output and standard error are.
    pub(super) fn enter_as_holder(is_new: bool) -> io::Result<()> {
        if is_new {
            return make_namespaces();
        }
        if !geteuid().is_root() {
            setns(io::stderr().as_fd(), CloneFlags::CLONE_NEWUSER)?;
        }
        Ok(setns(io::stdout().as_fd(), CloneFlags::CLONE_NEWNS)?)
    }

    /// Makes namespaces. Mounts that are made outside later are seen inside, and never the other way round.
    fn make_namespaces() -> io::Result<()> {
        let (user, group) = (geteuid(), getegid());
        if user.is_root() {
            unshare(CloneFlags::CLONE_NEWNS)?;
        } else {
            unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
            let (user, group) = (user.as_raw(), group.as_raw());
            fs_err::write("/proc/self/setgroups", "deny")?;
            fs_err::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
            fs_err::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        }
        let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
        Ok(mount_change("/", flags)?)
    }

    /// Enters the namespaces of a holder. The process must have one thread.
    pub(in crate::process) fn enter(holder: u32) -> io::Result<()> {
        let open = |name: &str| fs_err::File::open(format!("/proc/{holder}/ns/{name}"));
        let mounts = open("mnt")?;
        if !geteuid().is_root() {
            setns(open("user")?.file(), CloneFlags::CLONE_NEWUSER)?;
        }
        Ok(setns(mounts.file(), CloneFlags::CLONE_NEWNS)?)
    }

    /// Shows a directory at another path, to this process and those that it starts.
    pub(in crate::process) fn show(real: &Utf8Path, shown: &Utf8Path) -> io::Result<()> {
        make_namespaces()?;
        let [real, shown] = [real, shown].map(Utf8Path::as_std_path);
        Ok(rustix::mount::mount_bind_recursive(real, shown)?)
    }

    /// Covers files with nothing, for this process and those that it starts. Nobody can move the directories that they are in,
    /// up to `top`.
    pub(in crate::process) fn cover(files: &[Utf8PathBuf], top: &Utf8Path) -> io::Result<()> {
        make_namespaces()?;
        let bind = |from: &Utf8Path, to: &Utf8Path| {
            rustix::mount::mount_bind(from.as_std_path(), to.as_std_path())
        };
        let above = |file: &Utf8PathBuf| {
            let dirs = file.ancestors().skip(1).map(Utf8Path::to_owned);
            dirs.take_while(|dir| dir != top).collect::<Vec<_>>()
        };
        // A directory comes before what is in it.
        let dirs: BTreeSet<Utf8PathBuf> = files.iter().flat_map(above).collect();
        for dir in dirs {
            bind(&dir, &dir)?;
        }
        for file in files {
            bind("/dev/null".into(), file)?;
        }
        Ok(())
    }

    pub(super) fn perform(request: &Request) -> io::Result<()> {
        let overlay = match request {
            Request::Mount(overlay) => overlay,
            Request::Unmount { at } => {
                let flags = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
                return Ok(rustix::mount::unmount(at.as_std_path(), flags)?);
            }
        };
        std::env::set_current_dir(&overlay.dir)?;
        let options = CString::new(overlay.options.as_str()).map_err(io::Error::other)?;
        let at = overlay.at.as_std_path();
        let none = MountFlags::empty();
        let mounted =
            rustix::mount::mount("overlay", at, "overlay", none, Some(options.as_c_str()));
        std::env::set_current_dir("/")?;
        Ok(mounted?)
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) mod os {
    use std::io;

    use camino::{Utf8Path, Utf8PathBuf};

    use super::Request;

    fn unsupported() -> io::Result<()> {
        let words = "only Linux has mount namespaces";
        Err(io::Error::new(io::ErrorKind::Unsupported, words))
    }

    pub(super) fn enter_as_holder(_is_new: bool) -> io::Result<()> {
        unsupported()
    }

    pub(in crate::process) fn enter(_holder: u32) -> io::Result<()> {
        unsupported()
    }

    pub(in crate::process) fn show(_real: &Utf8Path, _shown: &Utf8Path) -> io::Result<()> {
        unsupported()
    }

    pub(in crate::process) fn cover(_files: &[Utf8PathBuf], _top: &Utf8Path) -> io::Result<()> {
        unsupported()
    }

    pub(super) fn perform(_request: &Request) -> io::Result<()> {
        unsupported()
    }
}
