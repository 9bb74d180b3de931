//! bubblewrap: found, tried once, and called for every command.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use super::SandboxError;
use super::mounts::{Mounts, Place};
use super::names;
use super::programs::Programs;
use super::view::View;
use crate::host::environment::{Host, find_program, outside_paths};
use crate::mcp_tap::TapProgram;
use crate::process::own_process;
use crate::process::supervise::Enclosure;

/// The supervisor's program, inside.
const SUPERVISOR: &str = "/run/terca";
/// The file of the same program outside, in the directory for files that every sandbox needs.
const OWN_PROGRAM: &str = "terca";
/// The id of user and group inside, where the caller is the superuser: some agents refuse to work for that one.
const NOT_SUPERUSER: u32 = 1000;

/// The system's directories. Where they are links, they are the same links inside.
const SYSTEM: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/snap",
];

/// The parts of `/etc` that programs need. Passwords, keys and settings of services are not among them.
const SETTINGS: [&str; 32] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/gitconfig",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/lsb-release",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/openssl",
    "/etc/os-release",
    "/etc/perl",
    "/etc/pki",
    "/etc/protocols",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl",
    "/etc/terminfo",
    "/etc/timezone",
];

/// bubblewrap, as it works on this machine.
#[derive(Debug)]
pub(super) struct Bwrap {
    program: Utf8PathBuf,
    /// The places that every sandbox has.
    base: Mounts,
    /// The last arguments of every sandbox.
    last: Vec<String>,
    secluded: Vec<Utf8PathBuf>,
    /// Terca's own program, outside.
    own_program: Utf8PathBuf,
}

impl Bwrap {
    /// Looks for the program and starts `true` in a sandbox. Files that every sandbox needs are made in `dir`.
    pub(super) fn set_up(
        dir: &Utf8Path,
        host: &Host,
        secluded: &[Utf8PathBuf],
    ) -> Result<Self, SandboxError> {
        if !cfg!(target_os = "linux") {
            return Err(SandboxError::NotLinux);
        }
        let path = host.get("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
        let program = find_program("bwrap", path).ok_or(SandboxError::Missing)?;
        let bwrap = Bwrap {
            program,
            base: base(dir, host).map_err(SandboxError::Files)?,
            last: last(),
            secluded: secluded.to_vec(),
            own_program: dir.join(OWN_PROGRAM),
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

    /// Returns Terca's own program, as it is found inside.
    pub(super) fn tap_program(&self) -> TapProgram {
        TapProgram {
            path: SUPERVISOR.into(),
            file: self.own_program.clone(),
        }
    }

    pub(super) fn into_program(self) -> Utf8PathBuf {
        self.program
    }

    fn try_out(&self) -> Result<(), SandboxError> {
        let refused = |reason: String| SandboxError::Refused {
            program: self.program.clone(),
            reason,
        };
        let output = Command::new(&self.program)
            .args(self.args(&self.base))
            .arg("true")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| refused(error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let words = errors.trim().lines().last().unwrap_or("it says nothing");
        Err(refused(words.to_owned()))
    }

    /// Returns the enclosure of a command that sees `view`.
    pub(super) fn enclosure(&self, view: &View<'_>) -> Enclosure {
        let mut mounts = self.base.clone();
        mounts.show_what_is_read(view);
        let own = view.own_dirs();
        let mut programs = Programs {
            mounts: &mut mounts,
            secluded: &self.secluded,
            of_agents: &own,
            path: view.env.get("PATH").map(String::as_str).unwrap_or_default(),
        };
        programs.show_path();
        for name in outside_paths() {
            if let Some(path) = view.env.get(name).map(Utf8Path::new)
                && path.is_absolute()
            {
                programs.show_named(path);
            }
        }
        if let Some(program) = view.words.program {
            programs.show_program(program);
        }
        for word in view.words.others.iter().map(Utf8Path::new) {
            if word.is_absolute() {
                programs.show_named(word);
            }
        }
        mounts.show_what_is_written(view);
        let mut args = self.args(&mounts);
        if view.own_network {
            args.push("--unshare-net".to_owned());
        }
        Enclosure {
            program: self.program.clone(),
            args,
            supervisor: SUPERVISOR.into(),
            outlet: None,
            container: None,
        }
    }
}

/// Returns the first arguments of every sandbox.
fn walls() -> Vec<String> {
    let walls = [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--disable-userns",
        "--cap-drop",
        "ALL",
        "--new-session",
        "--die-with-parent",
        "--as-pid-1",
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
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--remount-ro",
        "/",
        "--chdir",
        "/",
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
        let mode = meta.permissions().mode();
        let path = entry.path().to_string();
        if meta.is_dir() {
            args.extend(["--ro-bind".to_owned(), path.clone(), path]);
        } else if mode & 0o222 != 0 || mode & 0o004 == 0 {
            args.extend(["--ro-bind".to_owned(), "/dev/null".to_owned(), path]);
        }
    }
    args
}

/// Returns the places that every sandbox has.
fn base(dir: &Utf8Path, host: &Host) -> io::Result<Mounts> {
    let mut mounts = Mounts::default();
    for path in SYSTEM.map(Utf8Path::new) {
        match path.read_link_utf8() {
            Ok(target) => mounts.set(path, Place::Link(target.into_string())),
            Err(_) => mounts.show(path),
        }
    }
    for path in SETTINGS.map(Utf8Path::new) {
        mounts.show(path);
    }
    let users = dir.join("passwd");
    let groups = dir.join("group");
    names::write(&users, &groups, ids(), host)?;
    mounts.set("/etc/passwd", Place::ReadOnlyFrom(users));
    mounts.set("/etc/group", Place::ReadOnlyFrom(groups));
    let supervisor = dir.join(OWN_PROGRAM);
    own_process::keep_program(&supervisor)?;
    mounts.set(SUPERVISOR, Place::ReadOnlyFrom(supervisor));
    mounts.set("/var/tmp", Place::Empty);
    mounts.set("/tmp", Place::Empty);
    Ok(mounts)
}

/// Returns the ids of user and group inside.
fn ids() -> (u32, u32) {
    let user = rustix::process::geteuid();
    if user.is_root() {
        return (NOT_SUPERUSER, NOT_SUPERUSER);
    }
    (user.as_raw(), rustix::process::getegid().as_raw())
}
