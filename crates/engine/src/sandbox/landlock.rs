//! Landlock: rules of the kernel in the place of namespaces, for where those are forbidden.
//!
//! What a command may read and write is the same list as with bubblewrap. The rest of the machine is refused instead of
//! missing, and some things cannot be done: see `docs/reference/terca-yaml.md`.

use camino::Utf8PathBuf;
use terca_core::config::sandbox::ContainedBy;

use super::contents::Contents;
use super::{SandboxError, View, Wall};
use crate::process::confine::{Confinement, OWN_PROGRAM};
use crate::process::supervise::Enclosure;
use crate::process::walls::{self, Tcp, Walls};

/// Files that every command reads. In `/proc` other processes can be seen, and what is theirs alone cannot be read.
const READABLE: [&str; 3] = ["/etc/passwd", "/etc/group", "/proc"];
/// Devices that every command uses. Terminals and shared memory are not among them: they are the user's.
const DEVICES: [&str; 5] = [
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
];

/// Landlock, as it works on this machine.
#[derive(Debug)]
pub(super) struct Landlock {
    contents: Contents,
}

impl Landlock {
    /// Asks the kernel whether it has enough rules.
    pub(super) fn set_up(contents: Contents) -> Result<Self, SandboxError> {
        walls::strength().map_err(SandboxError::NoLandlock)?;
        Ok(Landlock { contents })
    }
}

impl Wall for Landlock {
    fn kind(&self) -> ContainedBy {
        ContainedBy::Landlock
    }

    /// Returns true for a superuser: rules change nobody's number.
    fn is_superuser(&self) -> bool {
        rustix::process::geteuid().is_root()
    }

    /// Returns Terca's own program, which is at the same path inside.
    fn own_program(&self) -> Utf8PathBuf {
        self.contents.own_program.clone()
    }

    fn enclosure(&self, view: &View<'_>) -> Enclosure {
        let (readable, writable) = self.contents.of(view).rules();
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
        };
        let confinement = Confinement {
            walls: Some(walls),
            ..Confinement::default()
        };
        Enclosure {
            program: OWN_PROGRAM.into(),
            args: confinement.args(),
            supervisor: self.contents.own_program.clone(),
            outlet: None,
            container: None,
        }
    }
}
