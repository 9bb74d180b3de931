//! Rules of the kernel (Landlock) that a process lays on itself and on everything that it starts.
//!
//! They are for places where no namespaces may be made. A rule allows; what no rule allows is refused. Nobody can take a
//! rule back, not even the superuser.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The rules for files and for the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// Files and directories that can be read, with everything in them.
    pub readable: Vec<Utf8PathBuf>,
    /// Files and directories that can be changed, with everything in them.
    pub writable: Vec<Utf8PathBuf>,
    /// Directories in which anything can be made, listed, written and removed, but neither be read nor be moved elsewhere.
    #[serde(default)]
    pub fillable: Vec<Utf8PathBuf>,
    /// Devices and numbers of what gets no other rule, under whatever name it is found.
    #[serde(default)]
    pub refused: Vec<(u64, u64)>,
    /// Connections by TCP. Where not all are open, no others pass, either.
    pub tcp: Tcp,
    /// The process is a service, such as a database, and no agent's work: it may use memory that all programs of the
    /// user share.
    pub is_service: bool,
}

/// The connections by TCP that are allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tcp {
    /// All of them.
    #[default]
    Open,
    /// Those to these ports of any host. Ports can be listened on.
    Ports(Vec<u16>),
    /// None, and no port can be listened on.
    Off,
}

/// The rules that the kernel knows beside those that Terca needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strength {
    /// Signals and abstract sockets do not pass.
    pub has_scopes: bool,
    /// Connections to sockets in the file system do not pass.
    pub has_sockets: bool,
}

/// The kernel has no such rules, or too few.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the kernel does not have Landlock with rules for TCP: that needs Linux 6.7 or later, with `landlock` among its \
     security modules"
)]
pub struct TooWeak;

#[cfg(target_os = "linux")]
mod kernel {
    use std::io;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
        Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus,
        Scope,
    };
    use rustix::fs::{FileType, Mode, OFlags, fstat, open};
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

    use super::{Strength, Tcp, TooWeak, Walls};
    use crate::process::call_filter::{self, WithoutNamespaces};

    /// The rules that must be there: without those of the third version files can be emptied anywhere, and the fourth
    /// brings TCP.
    const NEEDED: ABI = ABI::V4;
    /// The rules that are used where they are there.
    const KNOWN: ABI = ABI::V9;

    /// Asks the kernel which rules it has.
    pub fn strength() -> Result<Strength, TooWeak> {
        begin(&Tcp::Off)
            .and_then(Ruleset::create)
            .map_err(|_| TooWeak)?;
        let must_have = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        Ok(Strength {
            has_scopes: must_have().scope(Scope::from_all(ABI::V6)).is_ok(),
            has_sockets: must_have().handle_access(AccessFs::from_all(KNOWN)).is_ok(),
        })
    }

    fn begin(tcp: &Tcp) -> Result<Ruleset, RulesetError> {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(NEEDED))?;
        let ruleset = match tcp {
            Tcp::Open => ruleset,
            Tcp::Ports(_) => ruleset.handle_access(AccessNet::ConnectTcp)?,
            Tcp::Off => ruleset.handle_access(AccessNet::from_all(NEEDED))?,
        };
        ruleset
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(KNOWN))?
            .scope(Scope::from_all(KNOWN))
    }

    impl Walls {
        /// Lays the rules on this process, which must have no other thread. The superuser's privileges go too.
        pub fn enter(&self) -> io::Result<()> {
            let mut ruleset = begin(&self.tcp)
                .and_then(Ruleset::create)
                .map_err(io::Error::other)?;
            let refused = &self.refused;
            for path in &self.readable {
                let access = AccessFs::from_read(KNOWN);
                ruleset = allow(ruleset, path, access, OFlags::empty(), refused)?;
            }
            // An agent may have put a link in its place.
            let no_link = OFlags::NOFOLLOW;
            for path in &self.writable {
                ruleset = allow(ruleset, path, AccessFs::from_all(KNOWN), no_link, refused)?;
            }
            let unread = AccessFs::ReadFile | AccessFs::Execute | AccessFs::Refer;
            for path in &self.fillable {
                let access = AccessFs::from_all(KNOWN) & !unread;
                ruleset = allow(ruleset, path, access, no_link, &[])?;
            }
            if let Tcp::Ports(ports) = &self.tcp {
                for port in ports {
                    ruleset = ruleset
                        .add_rule(NetPort::new(*port, AccessNet::ConnectTcp))
                        .map_err(io::Error::other)?;
                }
            }
            let status = ruleset.restrict_self().map_err(io::Error::other)?;
            if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
                return Err(io::Error::other("the kernel did not take the rules"));
            }
            let none = CapabilitySets {
                effective: CapabilitySet::empty(),
                permitted: CapabilitySet::empty(),
                inheritable: CapabilitySet::empty(),
            };
            set_capabilities(None, none)?;
            call_filter::enter(Some(WithoutNamespaces {
                is_service: self.is_service,
                has_rules_for_tcp: self.tcp != Tcp::Open,
            }))
        }
    }

    /// Adds a rule. What is not there needs none.
    fn allow(
        ruleset: RulesetCreated,
        path: &camino::Utf8Path,
        access: BitFlags<AccessFs>,
        flags: OFlags,
        refused: &[(u64, u64)],
    ) -> io::Result<RulesetCreated> {
        let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
        let Ok(file) = open(path.as_std_path(), flags, Mode::empty()) else {
            return Ok(ruleset);
        };
        let found = fstat(&file)?;
        if refused.contains(&(found.st_dev, found.st_ino)) {
            return Ok(ruleset);
        }
        let access = match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => access,
            FileType::Symlink => return Ok(ruleset),
            _ => access & AccessFs::from_file(KNOWN),
        };
        ruleset
            .add_rule(PathBeneath::new(file, access))
            .map_err(io::Error::other)
    }
}

#[cfg(target_os = "linux")]
pub use kernel::strength;

/// Asks the kernel which rules it has.
#[cfg(not(target_os = "linux"))]
pub fn strength() -> Result<Strength, TooWeak> {
    Err(TooWeak)
}

#[cfg(not(target_os = "linux"))]
impl Walls {
    /// Fails: this system has no such rules.
    pub fn enter(&self) -> std::io::Result<()> {
        Err(std::io::Error::other(TooWeak.to_string()))
    }
}
