//! Landlock: rules of the kernel in the place of namespaces, for where those are forbidden.
//!
//! What a command may read and write is the same list as with bubblewrap. The rest of the machine is refused instead of
//! missing, and some things cannot be done: see `docs/reference/terca-yaml.md`.

use camino::Utf8PathBuf;

use super::View;
use super::contents::Contents;
use crate::process::confine::Confinement;
use crate::process::supervise::Enclosure;
use crate::process::walls::{Tcp, Walls};

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
    let (readable, writable) = contents.of(view).rules();
    let own = READABLE.map(Utf8PathBuf::from);
    let devices = DEVICES.map(Utf8PathBuf::from);
    let walls = Walls {
        readable: own.into_iter().chain(readable).collect(),
        writable: devices.into_iter().chain(writable).collect(),
        tcp: match view.own_network {
            false => Tcp::Open,
            true if view.reachable_ports.is_empty() => Tcp::Off,
            true => Tcp::Ports(view.reachable_ports.clone()),
        },
        ..Walls::default()
    };
    let confinement = Confinement {
        walls: Some(walls),
        ..Confinement::default()
    };
    Enclosure::confined(None, &confinement)
}
