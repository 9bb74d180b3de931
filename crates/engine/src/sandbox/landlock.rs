//! Landlock: rules of the kernel in the place of namespaces, for where those are forbidden.
//!
//! What a command may read and write is the same list as with bubblewrap. The rest of the machine is refused instead of
//! missing, and some things cannot be done: see `docs/reference/terca-yaml.md`.

use camino::Utf8PathBuf;

use super::contents::Contents;
use super::mounts::Mounts;
use super::{SandboxError, View};
use crate::process::confine::Confinement;
use crate::process::supervise::Enclosure;
use crate::process::walls::{Strength, Tcp, Walls, strength};

/// Files that every command reads. In `/proc` other processes can be seen, and what is theirs alone cannot be read.
const READABLE: [&str; 3] = ["/etc/passwd", "/etc/group", "/proc"];
/// Devices that every command uses. Terminals and shared memory are not among them: they are the user's.
const DEVICES: [&str; 5] = [
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
];

/// Returns the files and directories that a command reads, beside those that it can change.
pub(super) fn readable(contents: &Contents, view: &View<'_>) -> Vec<Utf8PathBuf> {
    let own = READABLE.map(Utf8PathBuf::from).into_iter();
    own.chain(contents.of(view).rules().0).collect()
}

/// Returns the enclosure of a command that sees `view`.
pub(super) fn enclosure(contents: &Contents, view: &View<'_>) -> Enclosure {
    let tcp = match view.own_network {
        false => Tcp::Open,
        true if view.reachable_ports.is_empty() => Tcp::Off,
        true => Tcp::Ports(view.reachable_ports.clone()),
    };
    with_rules(&contents.of(view), tcp, view.is_service)
}

/// Starts a supervisor that sees nothing but the places of every sandbox. Returns the strength of the rules.
pub(super) fn try_out(contents: &Contents) -> Result<Strength, SandboxError> {
    let strength = strength().map_err(SandboxError::NoLandlock)?;
    let enclosure = Enclosure {
        supervisor: contents.own_program.clone(),
        ..with_rules(&contents.base, Tcp::Off, false)
    };
    enclosure.try_out().map_err(SandboxError::LandlockRefused)?;
    Ok(strength)
}

fn with_rules(mounts: &Mounts, tcp: Tcp, is_service: bool) -> Enclosure {
    let (readable, writable) = mounts.rules();
    let own = READABLE.map(Utf8PathBuf::from);
    let devices = DEVICES.map(Utf8PathBuf::from);
    let walls = Walls {
        readable: own.into_iter().chain(readable).collect(),
        writable: devices.into_iter().chain(writable).collect(),
        tcp,
        is_service,
        ..Walls::default()
    };
    let confinement = Confinement {
        walls: Some(walls),
        ..Confinement::default()
    };
    Enclosure::confined(None, &confinement)
}
