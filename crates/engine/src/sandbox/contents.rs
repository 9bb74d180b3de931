//! The part of the machine that commands see in a sandbox: one list, whatever keeps the rest away.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;

use camino::{Utf8Path, Utf8PathBuf};

use super::View;
use super::mounts::{Mounts, Place};
use super::programs::Programs;
use crate::host::environment::{Host, outside_paths};
use crate::locked;
use crate::process::own_process;
use terca_core::text::prose;

/// The supervisor's program, inside.
pub(super) const SUPERVISOR: &str = "/run/terca";
/// The file of the same program outside, in the directory for files that every sandbox needs.
const OWN_PROGRAM: &str = "terca";
/// The system's directories. Where they are links, they are the same links inside.
const SYSTEM: [&str; 10] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
    "/snap",
];

/// The parts of `/etc` that programs need. Passwords, keys and settings of services are not among them.
const SETTINGS: [&str; 32] = [
    "/etc/alternatives", "/etc/ca-certificates", "/etc/ca-certificates.conf",
    "/etc/crypto-policies", "/etc/debian_version", "/etc/fonts", "/etc/gai.conf", "/etc/gitconfig",
    "/etc/host.conf", "/etc/hosts", "/etc/inputrc", "/etc/java", "/etc/ld.so.cache",
    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/lsb-release", "/etc/magic",
    "/etc/mime.types", "/etc/nsswitch.conf", "/etc/openssl", "/etc/os-release", "/etc/perl",
    "/etc/pki", "/etc/protocols", "/etc/python3", "/etc/resolv.conf", "/etc/services",
    "/etc/shells", "/etc/ssl", "/etc/terminfo", "/etc/timezone",
];

/// Directories in those parts whose files are for the superuser, who may be the one that runs Terca.
const PRIVATE: [&str; 2] = ["/etc/ssl/private", "/etc/pki/tls/private"];

/// The part of the machine that commands see.
#[derive(Debug)]
pub(super) struct Contents {
    /// The places that every sandbox has.
    pub base: Mounts,
    /// The places of every sandbox with the programs of a `PATH`, by that `PATH`: looking for them takes longer than all
    /// the rest.
    known: Mutex<HashMap<String, Mounts>>,
    secluded: Vec<Utf8PathBuf>,
    /// Terca's own program, outside.
    pub own_program: Utf8PathBuf,
}

impl Contents {
    /// Settles what every command sees. Files that every sandbox needs are made in `dir`.
    pub(super) fn set_up(dir: &Utf8Path, secluded: &[Utf8PathBuf]) -> io::Result<Self> {
        let own_program = dir.join(OWN_PROGRAM);
        own_process::keep_program(&own_program)?;
        Ok(Contents {
            base: base(&own_program),
            known: Mutex::default(),
            secluded: secluded.to_vec(),
            own_program,
        })
    }

    /// Returns what a command sees that has this view.
    pub(super) fn of(&self, view: &View<'_>) -> Mounts {
        let own = view.own_dirs();
        let path = view.env.get("PATH").map(String::as_str).unwrap_or_default();
        let mut mounts = self.with_path(path, &own);
        mounts.show_what_is_read(view);
        let mut programs = Programs::on(path, &mut mounts, &self.secluded, &own);
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
        programs.show_words(view.words.others);
        mounts.hide(view);
        mounts.show_what_is_written(view);
        mounts
    }

    /// Returns the places that every sandbox has, with the programs of a `PATH`. Directories that the agent writes to are
    /// not looked into, and differ from trial to trial.
    fn with_path(&self, path: &str, of_agents: &[&Utf8Path]) -> Mounts {
        let is_of_agents = |dir: &&str| {
            let dir = Utf8Path::new(dir);
            of_agents.iter().any(|other| dir.starts_with(other))
        };
        let path = prose::joined(path.split(':').filter(|dir| !is_of_agents(dir)), ":");
        let mut known = locked(&self.known);
        let mounts = known.entry(path).or_insert_with_key(|path| {
            let mut mounts = self.base.clone();
            Programs::on(path, &mut mounts, &self.secluded, of_agents).show_path();
            mounts
        });
        mounts.clone()
    }
}

/// Returns the places that every sandbox has.
fn base(own_program: &Utf8Path) -> Mounts {
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
    for path in PRIVATE.map(Utf8Path::new) {
        if path.is_dir() {
            mounts.set(path, Place::Empty);
        }
    }
    mounts.set(SUPERVISOR, Place::ReadOnlyFrom(own_program.to_owned()));
    mounts.set("/var/tmp", Place::Empty);
    mounts.set("/tmp", Place::Empty);
    mounts
}

/// The id of files whose owner is not known inside.
const NOBODY: u32 = 65534;

/// Writes the names of the user and the group inside. Programs fail whose user has none.
pub(super) fn write_names(
    users: &Utf8Path,
    groups: &Utf8Path,
    (user, group): (u32, u32),
    host: &Host,
) -> io::Result<()> {
    let is_plain = |name: &&str| {
        !name.is_empty() && *name != "root" && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let name = match user {
        0 => "root",
        _ => host.get("USER").filter(is_plain).unwrap_or("agent"),
    };
    let mut user_lines = format!("{name}:x:{user}:{group}:{name}:/nonexistent:/bin/sh\n");
    let mut group_lines = format!("{name}:x:{group}:\n");
    if user != NOBODY {
        user_lines += &format!("nobody:x:{NOBODY}:{NOBODY}:nobody:/nonexistent:/bin/sh\n");
    }
    if group != NOBODY {
        group_lines += &format!("nogroup:x:{NOBODY}:\n");
    }
    fs_err::write(users, user_lines)?;
    fs_err::write(groups, group_lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_keys_of_the_machine_are_not_shown() {
        let mounts = base(Utf8Path::new("/terca"));
        for path in PRIVATE.map(Utf8Path::new) {
            assert!(!mounts.has(&path.join("server.key")), "{path}");
        }
        assert!(mounts.has("/usr/bin/env".into()));
    }
}
