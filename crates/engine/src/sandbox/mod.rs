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

/// A sandbox that was asked for cannot be made on this machine.
#[derive(Debug, Error)]
pub enum SandboxError {
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

/// The sandboxes of a run.
#[derive(Debug, Default)]
pub struct Sandboxes {
    /// `None` if nobody asks for it.
    bwrap: Option<Bwrap>,
    /// The engines that somebody asks for.
    containers: BTreeMap<ContainerEngine, Containers>,
}

impl Sandboxes {
    /// Settles, once for a run, how the sandboxes that it asks for are made, and tries it. `dir` is an empty directory for
    /// files that all of them need; nothing in one of `secluded` is ever shown because it is beside something else.
    pub fn set_up<'a>(
        asked: impl IntoIterator<Item = &'a Sandbox>,
        new_dir: impl Fn() -> io::Result<Utf8PathBuf>,
        host: &Host,
        secluded: &[&Utf8Path],
    ) -> Result<Self, SandboxError> {
        let asked: Vec<&Sandbox> = asked.into_iter().collect();
        if asked.iter().all(|sandbox| sandbox.is_none()) {
            return Ok(Sandboxes::default());
        }
        let secluded = with_real_names(secluded, host);
        let mut sandboxes = Sandboxes::default();
        let needs_bwrap = |sandbox: &&Sandbox| matches!(sandbox, Sandbox::Bwrap | Sandbox::Auto);
        if asked.iter().any(needs_bwrap) {
            let dir = new_dir().map_err(SandboxError::Files)?;
            sandboxes.bwrap = Some(Bwrap::set_up(&dir, host, &secluded)?);
        }
        for engine in ContainerEngine::ALL {
            let all = asked.iter().filter_map(|sandbox| sandbox.container());
            let images: Vec<&Image> = all
                .filter(|(its_engine, _)| *its_engine == engine)
                .map(|(_, image)| image)
                .collect();
            if !images.is_empty() {
                let dir = new_dir().map_err(SandboxError::Files)?;
                let containers = Containers::set_up(engine, &images, &dir, host, &secluded)?;
                sandboxes.containers.insert(engine, containers);
            }
        }
        Ok(sandboxes)
    }

    fn image(&self, asked: &Sandbox) -> Option<(&Containers, &FoundImage)> {
        let (engine, image) = asked.container()?;
        let containers = self.containers.get(&engine)?;
        Some((containers, containers.images.get(image)?))
    }

    /// Returns the hash of a container's image.
    pub fn image_id(&self, asked: &Sandbox) -> Option<&str> {
        self.image(asked).map(|(_, image)| image.id.as_str())
    }

    /// Returns the environment that commands are made from: that of a container's image, or this one.
    pub fn host<'a>(&'a self, asked: &Sandbox, own: &'a Host) -> &'a Host {
        self.image(asked).map_or(own, |(_, image)| &image.host)
    }

    /// Returns whether commands have the number of the superuser.
    pub fn is_superuser(&self, asked: &Sandbox) -> bool {
        match (self.contained_by(asked), self.image(asked)) {
            (_, Some((containers, _))) => containers.is_superuser,
            (ContainedBy::None, None) => rustix::process::geteuid().is_root(),
            // In the other sandboxes nobody has.
            (_, None) => false,
        }
    }

    /// Returns what commands are contained by, where this sandbox is asked for.
    pub fn contained_by(&self, asked: &Sandbox) -> ContainedBy {
        match asked {
            Sandbox::None => ContainedBy::None,
            Sandbox::Bwrap | Sandbox::Auto => ContainedBy::Bwrap,
            Sandbox::Docker(_) => ContainedBy::Docker,
            Sandbox::Podman(_) => ContainedBy::Podman,
        }
    }

    /// Returns Terca's own program as commands find it in this sandbox; `None` where none is asked for.
    pub fn tap_program(&self, asked: &Sandbox) -> Option<TapProgram> {
        match (&self.bwrap, self.contained_by(asked)) {
            (Some(bwrap), ContainedBy::Bwrap) => Some(bwrap.tap_program()),
            _ => self
                .image(asked)
                .map(|(containers, _)| containers.tap_program()),
        }
    }

    /// Returns the enclosure of a command that sees `view`; `None` where no sandbox is asked for.
    pub fn enclosure(&self, asked: &Sandbox, view: &View<'_>) -> Option<Enclosure> {
        match (&self.bwrap, self.contained_by(asked)) {
            (Some(bwrap), ContainedBy::Bwrap) => Some(bwrap.enclosure(view)),
            _ => self
                .image(asked)
                .map(|(containers, image)| containers.enclosure(image, view)),
        }
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
