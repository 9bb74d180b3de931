//! Sandboxes: each command of a trial runs behind a wall of its own.
//!
//! Inside there is the system's software (read-only), the programs on the trial's `PATH` wherever they are installed
//! (read-only), the trial's own directories **at the same paths as outside**, and nothing else: not the user's home, not
//! the suite (for agents), not the run, not other trials. It is a list of what is there, never of what is hidden: a list
//! of secrets is always one behind.
//!
//! bubblewrap makes the wall from user, mount, PID, IPC and UTS namespaces. Nothing in it has the id of the superuser,
//! a capability, or the right to make further user namespaces. Files that are made inside belong to the caller outside.
//! The first process inside is Terca's own supervisor (`crate::process::supervise`), which requests and results pass
//! through.
//!
//! Commands of the suite (`before`, tests) also see the suite and the repository around it, since they use both. Tests
//! run the agent's code, so the eval's solution and earlier runs are hidden from them.
//!
//! The network is that of the machine.

mod bwrap;
mod carried_program;
mod container;
mod mounts;
mod names;
mod programs;
mod view;

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::sandbox::{ContainedBy, ContainerEngine, Image, Sandbox};
use thiserror::Error;

use crate::host::environment::Host;
use crate::mcp_tap::TapProgram;
use crate::process::supervise::Enclosure;
use crate::workspace::trial_dirs::WorkDir;
use bwrap::Bwrap;
use container::{Containers, EngineProgram, FoundImage};
pub use view::{View, Words};

/// The variable that names the sandbox of suites that do not say.
pub const DEFAULT_SANDBOX: &str = "TERCA_SANDBOX";

/// A sandbox that was asked for cannot be made on this machine.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The system has no sandboxes.
    #[error("sandboxes need Linux")]
    NotLinux,
    /// The program is not installed.
    #[error("bubblewrap (`bwrap`) is not installed")]
    Missing,
    /// The program is there and does not work.
    #[error("bubblewrap ({program}) cannot make a sandbox here: {reason}")]
    Refused {
        /// Its file.
        program: Utf8PathBuf,
        /// Its last words.
        reason: String,
    },
    /// The variable with the machine's default has another word.
    #[error("{DEFAULT_SANDBOX}={0} names no sandbox")]
    UnknownDefault(String),
    /// The program of an engine for containers is not installed.
    #[error("{title} (`{program}`) is not installed", title = engine.title(), program = engine.program())]
    EngineMissing {
        /// The engine.
        engine: ContainerEngine,
    },
    /// An engine for containers does not work.
    #[error("{title} ({program}) does not work: {reason}", title = engine.title())]
    EngineRefused {
        /// The engine.
        engine: ContainerEngine,
        /// The file of its program.
        program: Utf8PathBuf,
        /// Its last words.
        reason: String,
    },
    /// An image is not on this machine.
    #[error("{title} has no image `{image}`, and Terca never fetches one", title = engine.title())]
    ImageMissing {
        /// The engine.
        engine: ContainerEngine,
        /// The image.
        image: Image,
    },
    /// An image is there, and Terca's own program does not run in a container of it.
    #[error("{title} cannot make a container of `{image}`: {reason}", title = engine.title())]
    ImageRefused {
        /// The engine.
        engine: ContainerEngine,
        /// The image.
        image: Image,
        /// The engine's last words.
        reason: String,
    },
    /// The files that every sandbox needs could not be made.
    #[error("the files for sandboxes could not be made: {0}")]
    Files(#[source] io::Error),
}

/// How much a kind of sandbox is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// Not at all.
    None,
    /// Nobody says, so that it is used where it works.
    Wanted,
    /// Somebody has asked for it.
    Required,
}

/// The sandboxes of a run.
#[derive(Debug, Default)]
pub struct Sandboxes {
    /// `None` if no command is in one of its sandboxes.
    bwrap: Option<Bwrap>,
    /// The engines that somebody asks for.
    containers: BTreeMap<ContainerEngine, Containers>,
    /// The sandbox of commands for which none is asked, as the machine's owner has chosen it.
    of_machine: Option<Sandbox>,
    /// The reason why commands for which none is asked have no sandbox.
    impossible: Option<SandboxError>,
}

impl Sandboxes {
    /// Settles, once for a run, how its sandboxes are made, and tries it. `asked` has `None` for those who do not say: they
    /// get a sandbox if the machine can make one. `new_dir` makes an empty directory for files that all of them need;
    /// nothing in one of `secluded` is ever shown because it is beside something else.
    pub fn set_up<'a>(
        asked: impl IntoIterator<Item = Option<&'a Sandbox>>,
        new_dir: impl Fn() -> io::Result<Utf8PathBuf>,
        host: &Host,
        secluded: &[&Utf8Path],
    ) -> Result<Self, SandboxError> {
        let mut sandboxes = Sandboxes {
            of_machine: of_machine(host)?,
            ..Sandboxes::default()
        };
        let secluded = with_real_names(secluded, host);
        let mut bwrap = Need::None;
        let mut images: BTreeMap<ContainerEngine, Vec<Image>> = BTreeMap::new();
        for asked in asked {
            match asked.or(sandboxes.of_machine.as_ref()) {
                Some(Sandbox::None) => {}
                Some(Sandbox::Bwrap | Sandbox::Auto) => bwrap = Need::Required,
                None => bwrap = bwrap.max(Need::Wanted),
                Some(Sandbox::Docker(image)) => {
                    (images.entry(ContainerEngine::Docker).or_default()).push(image.clone());
                }
                Some(Sandbox::Podman(image)) => {
                    (images.entry(ContainerEngine::Podman).or_default()).push(image.clone());
                }
            }
        }
        if bwrap != Need::None {
            let dir = new_dir().map_err(SandboxError::Files)?;
            match Bwrap::set_up(&dir, host, &secluded) {
                Ok(made) => sandboxes.bwrap = Some(made),
                Err(SandboxError::Files(error)) => return Err(SandboxError::Files(error)),
                Err(error) if bwrap == Need::Required => return Err(error),
                Err(error) => sandboxes.impossible = Some(error),
            }
        }
        for (engine, images) in images {
            let dir = new_dir().map_err(SandboxError::Files)?;
            let images: Vec<&Image> = images.iter().collect();
            let containers = Containers::set_up(engine, &images, &dir, host, &secluded)?;
            sandboxes.containers.insert(engine, containers);
        }
        Ok(sandboxes)
    }

    /// Returns why commands for which no sandbox is asked have none, although nobody wanted that.
    pub fn impossible(&self) -> Option<&SandboxError> {
        self.impossible.as_ref()
    }

    fn image(&self, asked: Option<&Sandbox>) -> Option<(&Containers, &FoundImage)> {
        let (engine, image) = asked.or(self.of_machine.as_ref())?.container()?;
        let containers = self.containers.get(&engine)?;
        Some((containers, containers.images.get(image)?))
    }

    /// Returns the hash of a container's image.
    pub fn image_id(&self, asked: Option<&Sandbox>) -> Option<&str> {
        self.image(asked).map(|(_, image)| image.id.as_str())
    }

    /// Returns the environment that commands are made from: that of a container's image, or this one.
    pub fn host<'a>(&'a self, asked: Option<&Sandbox>, own: &'a Host) -> &'a Host {
        self.image(asked).map_or(own, |(_, image)| &image.host)
    }

    /// Returns whether commands have the number of the superuser.
    pub fn is_superuser(&self, asked: Option<&Sandbox>) -> bool {
        match (self.contained_by(asked), self.image(asked)) {
            (_, Some((containers, _))) => containers.is_superuser,
            (ContainedBy::None, None) => rustix::process::geteuid().is_root(),
            // In the other sandboxes nobody has.
            (_, None) => false,
        }
    }

    /// Returns what commands are contained by, where this sandbox is asked for.
    pub fn contained_by(&self, asked: Option<&Sandbox>) -> ContainedBy {
        match asked.or(self.of_machine.as_ref()) {
            Some(Sandbox::Docker(_)) => ContainedBy::Docker,
            Some(Sandbox::Podman(_)) => ContainedBy::Podman,
            Some(Sandbox::Bwrap | Sandbox::Auto) | None if self.bwrap.is_some() => {
                ContainedBy::Bwrap
            }
            _ => ContainedBy::None,
        }
    }

    /// Returns Terca's own program as commands find it in this sandbox; `None` where there is none.
    pub fn tap_program(&self, asked: Option<&Sandbox>) -> Option<TapProgram> {
        match (&self.bwrap, self.contained_by(asked)) {
            (Some(bwrap), ContainedBy::Bwrap) => Some(bwrap.tap_program()),
            _ => self
                .image(asked)
                .map(|(containers, _)| containers.tap_program()),
        }
    }

    /// Returns the enclosure of a command that sees `view`; `None` where there is no sandbox.
    pub fn enclosure(&self, asked: Option<&Sandbox>, view: &View<'_>) -> Option<Enclosure> {
        match (&self.bwrap, self.contained_by(asked)) {
            (Some(bwrap), ContainedBy::Bwrap) => Some(bwrap.enclosure(view)),
            _ => self
                .image(asked)
                .map(|(containers, image)| containers.enclosure(image, view)),
        }
    }
}

/// Returns the sandbox of those who do not say, if the machine's owner has chosen one.
fn of_machine(host: &Host) -> Result<Option<Sandbox>, SandboxError> {
    match host.get(DEFAULT_SANDBOX) {
        None | Some("") => Ok(None),
        Some(word) => Sandbox::of_word(word)
            .map(Some)
            .ok_or_else(|| SandboxError::UnknownDefault(word.to_owned())),
    }
}

/// Tries a sandbox. Returns the file of the program that made it.
pub fn try_out(host: &Host) -> Result<Utf8PathBuf, SandboxError> {
    let work = WorkDir::create(host.get("TERCA_WORK_DIR")).map_err(SandboxError::Files)?;
    let dir = work.new_dir().map_err(SandboxError::Files)?;
    Bwrap::set_up(&dir, host, &with_real_names(&[], host)).map(Bwrap::into_program)
}

/// Asks an engine for containers whether it works. Returns the file of its program and its version.
pub fn try_engine(
    engine: ContainerEngine,
    host: &Host,
) -> Result<(Utf8PathBuf, String), SandboxError> {
    let program = EngineProgram::find(engine, host)?;
    let answer = program.answer()?;
    Ok((program.program().to_owned(), answer.version))
}

/// Adds the home directory, and the same directories under their real names.
fn with_real_names(secluded: &[&Utf8Path], host: &Host) -> Vec<Utf8PathBuf> {
    let home = host.get("HOME").map(Utf8Path::new);
    let mut all = Vec::new();
    for place in secluded.iter().copied().chain(home) {
        all.push(place.to_owned());
        all.extend(place.canonicalize_utf8());
    }
    all
}
