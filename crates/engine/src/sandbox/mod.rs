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
mod mounts;
mod programs;
mod view;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::sandbox::{ContainedBy, Sandbox};
use thiserror::Error;

use crate::host::environment::Host;
use crate::mcp_tap::TapProgram;
use crate::process::supervise::Enclosure;
use crate::workspace::trial_dirs::WorkDir;
use bwrap::Bwrap;
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
    /// Containers cannot be made yet.
    #[error("a container of `{image}` by {engine} is not supported yet")]
    Container {
        /// The name of the engine.
        engine: &'static str,
        /// The image.
        image: String,
    },
    /// The files that every sandbox needs could not be made.
    #[error("the files for sandboxes could not be made: {0}")]
    Files(#[source] io::Error),
}

/// The sandboxes of a run.
#[derive(Debug, Default)]
pub struct Sandboxes {
    /// `None` if nobody asks for a sandbox.
    bwrap: Option<Bwrap>,
}

impl Sandboxes {
    /// Settles, once for a run, how the sandboxes that it asks for are made, and tries it. `dir` is an empty directory for
    /// files that all of them need; nothing in one of `secluded` is ever shown because it is beside something else.
    pub fn set_up<'a>(
        asked: impl IntoIterator<Item = &'a Sandbox>,
        dir: impl FnOnce() -> io::Result<Utf8PathBuf>,
        host: &Host,
        secluded: &[&Utf8Path],
    ) -> Result<Self, SandboxError> {
        let asked: Vec<&Sandbox> = asked.into_iter().collect();
        if asked.iter().all(|sandbox| sandbox.is_none()) {
            return Ok(Sandboxes::default());
        }
        if let Some((engine, image)) = asked.iter().find_map(|sandbox| sandbox.container()) {
            return Err(SandboxError::Container {
                engine: engine.title(),
                image: image.to_string(),
            });
        }
        let dir = dir().map_err(SandboxError::Files)?;
        let bwrap = Bwrap::set_up(&dir, host, secluded)?;
        Ok(Sandboxes { bwrap: Some(bwrap) })
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
            _ => None,
        }
    }

    /// Returns the enclosure of a command that sees `view`; `None` where no sandbox is asked for.
    pub fn enclosure(&self, asked: &Sandbox, view: &View<'_>) -> Option<Enclosure> {
        match (&self.bwrap, self.contained_by(asked)) {
            (Some(bwrap), ContainedBy::Bwrap) => Some(bwrap.enclosure(view)),
            _ => None,
        }
    }
}

/// Tries a sandbox. Returns the file of the program that made it.
pub fn try_out(host: &Host) -> Result<Utf8PathBuf, SandboxError> {
    let work = WorkDir::create(host.get("TERCA_WORK_DIR")).map_err(SandboxError::Files)?;
    let dir = work.new_dir().map_err(SandboxError::Files)?;
    Bwrap::set_up(&dir, host, &[]).map(Bwrap::into_program)
}
