//! bubblewrap: found, tried once, and called for every command.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};

use super::contents::{Contents, SUPERVISOR, write_names};
use super::mounts::{Mounts, Place};
use super::{SandboxError, View};
use crate::host::environment::{Host, find_program};
use crate::process::supervise::Enclosure;

/// The id of user and group inside, where the caller is the superuser: some agents refuse to work for that one.
const NOT_SUPERUSER: u32 = 1000;
/// The levels of the kernel's directories that are looked through. A deeper one is closed without a look.
const LEVELS: usize = 3;
/// The directory inside that has files of `/etc`.
const SETTINGS: &str = "/run/terca-settings";

/// bubblewrap, as it works on this machine.
#[derive(Debug)]
pub(super) struct Bwrap {
    pub program: Utf8PathBuf,
    contents: Contents,
    /// The last arguments of every sandbox.
    last: Vec<String>,
}

impl Bwrap {
    /// Looks for the program and starts a supervisor in a sandbox. Files that every sandbox needs are made in `dir`.
    pub(super) fn set_up(
        dir: &Utf8Path,
        host: &Host,
        mut contents: Contents,
    ) -> Result<Self, SandboxError> {
        if !cfg!(target_os = "linux") {
            return Err(SandboxError::NotLinux);
        }
        let path = host.get("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
        let program = find_program("bwrap", path).ok_or(SandboxError::Missing)?;
        keep_settings(&dir.join("settings"), &mut contents.base, host)?;
        let bwrap = Bwrap {
            program,
            contents,
            last: last(),
        };
        bwrap.try_out()?;
        Ok(bwrap)
    }

    /// Returns the arguments for a sandbox with these places.
    fn args(&self, mounts: &Mounts) -> Vec<String> {
        let mut args = walls();
        args.extend(mounts.args());
        args.extend(self.last.iter().cloned());
        args
    }

    fn try_out(&self) -> Result<(), SandboxError> {
        let enclosure = self.with_args(self.args(&self.contents.base));
        enclosure.try_out().map_err(|reason| SandboxError::Refused {
            program: self.program.clone(),
            reason,
        })
    }

    pub(super) fn enclosure(&self, view: &View<'_>) -> Enclosure {
        let mounts = self.contents.of(view);
        let mut args = self.args(&mounts);
        if view.own_network {
            args.push("--unshare-net".to_owned());
        }
        self.with_args(args)
    }

    fn with_args(&self, args: Vec<String>) -> Enclosure {
        Enclosure {
            program: self.program.clone(),
            args,
            supervisor: SUPERVISOR.into(),
            has_filter: true,
            ..Enclosure::default()
        }
    }
}

/// Copies the files of `/etc` that every sandbox has into a directory. A sandbox has them as links into it, because
/// each place that is mounted takes bubblewrap longer than the one before.
fn keep_settings(kept: &Utf8Path, base: &mut Mounts, host: &Host) -> io::Result<()> {
    fs_err::create_dir(kept)?;
    write_names(&kept.join("passwd"), &kept.join("group"), ids(), host)?;
    let mut names = vec!["passwd".to_owned(), "group".to_owned()];
    for path in base.same_in("/etc".into()) {
        let Some(name) = path.file_name() else {
            continue;
        };
        // One that cannot be read stays as it is.
        if path.is_file() && fs_err::copy(&path, kept.join(name)).is_ok() {
            names.push(name.to_owned());
        }
    }
    for name in names {
        let link = Place::Link(format!("{SETTINGS}/{name}"));
        base.set(format!("/etc/{name}"), link);
    }
    base.set(SETTINGS, Place::ReadOnlyFrom(kept.to_owned()));
    Ok(())
}

/// Returns the first arguments of every sandbox.
fn walls() -> Vec<String> {
    let walls = [
        "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
        "--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL", "--new-session",
        "--die-with-parent", "--as-pid-1",
    ];
    let (user, group) = ids();
    let mut args: Vec<String> = walls.map(str::to_owned).to_vec();
    args.extend(["--uid".to_owned(), user.to_string()]);
    args.extend(["--gid".to_owned(), group.to_string()]);
    args
}

/// Returns the last arguments of every sandbox.
fn last() -> Vec<String> {
    let own = [
        "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/", "--chdir", "/",
    ];
    let mut args: Vec<String> = own.map(str::to_owned).to_vec();
    args.extend(close_kernel_files());
    args
}

/// Returns the arguments that close the kernel's own files in `/proc`, such as `/proc/sys`.
///
/// Their owner is the superuser of the machine, and needs no capability for many of them: the one who names the program
/// that handles core dumps has the machine. Where Terca runs as the superuser, so do its sandboxes, under another number.
fn close_kernel_files() -> Vec<String> {
    let mut args = Vec::new();
    if !rustix::process::geteuid().is_root() {
        return args;
    }
    let Ok(entries) = Utf8Path::new("/proc").read_dir_utf8() else {
        return args;
    };
    for entry in entries.flatten() {
        let is_process = entry.file_name().bytes().all(|byte| byte.is_ascii_digit());
        let Ok(meta) = entry.path().symlink_metadata() else {
            continue;
        };
        if is_process || meta.is_symlink() {
            continue;
        }
        let path = entry.path().to_string();
        if !may_do_harm(entry.path(), &meta, LEVELS) {
            continue;
        }
        let source = match meta.is_dir() {
            true => path.clone(),
            false => "/dev/null".to_owned(),
        };
        args.extend(["--ro-bind".to_owned(), source, path]);
    }
    args
}

/// Returns whether a file of the kernel's can be written, or is for the superuser alone; or a file in a directory can.
fn may_do_harm(path: &Utf8Path, meta: &Metadata, levels: usize) -> bool {
    if !meta.is_dir() {
        let mode = meta.permissions().mode();
        return mode & 0o222 != 0 || mode & 0o004 == 0;
    }
    let (Some(levels), Ok(entries)) = (levels.checked_sub(1), path.read_dir_utf8()) else {
        return true;
    };
    entries.flatten().any(|entry| {
        let meta = entry.path().symlink_metadata();
        meta.is_ok_and(|meta| !meta.is_symlink() && may_do_harm(entry.path(), &meta, levels))
    })
}

/// Returns the ids of user and group inside.
fn ids() -> (u32, u32) {
    let user = rustix::process::geteuid();
    if user.is_root() {
        return (NOT_SUPERUSER, NOT_SUPERUSER);
    }
    (user.as_raw(), rustix::process::getegid().as_raw())
}
