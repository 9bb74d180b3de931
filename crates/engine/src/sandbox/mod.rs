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
    /// The files that every sandbox needs could not be made.
    #[error("the files for sandboxes could not be made: {0}")]
    Files(#[source] io::Error),
}

/// The sandboxes of a run.
#[derive(Debug, Default)]
pub struct Sandboxes {
    /// `None` if no command is in a sandbox.
    bwrap: Option<Bwrap>,
    /// The sandbox of commands for which none is asked, as the machine's owner has chosen it.
    of_machine: Option<Sandbox>,
    /// The reason why commands for which none is asked have no sandbox.
    impossible: Option<SandboxError>,
}

impl Sandboxes {
    /// Settles, once for a run, how its sandboxes are made, and tries it. `asked` has `None` for those who do not say: they
    /// get a sandbox if the machine can make one. `dir` is an empty directory for files that all of them need; nothing in
    /// one of `secluded` is ever shown because it is beside something else.
    pub fn set_up(
        asked: impl IntoIterator<Item = Option<Sandbox>>,
        dir: impl FnOnce() -> io::Result<Utf8PathBuf>,
        host: &Host,
        secluded: &[&Utf8Path],
    ) -> Result<Self, SandboxError> {
        let of_machine = of_machine(host)?;
        let mut sandboxes = Sandboxes {
            of_machine,
            ..Sandboxes::default()
        };
        let settled: Vec<Option<Sandbox>> = asked
            .into_iter()
            .map(|asked| asked.or(of_machine))
            .collect();
        if settled.iter().all(|asked| *asked == Some(Sandbox::None)) {
            return Ok(sandboxes);
        }
        let dir = dir().map_err(SandboxError::Files)?;
        let is_required = |asked: &Option<Sandbox>| asked.is_some_and(|asked| !asked.is_none());
        match Bwrap::set_up(&dir, host, secluded) {
            Ok(bwrap) => sandboxes.bwrap = Some(bwrap),
            Err(SandboxError::Files(error)) => return Err(SandboxError::Files(error)),
            Err(error) if settled.iter().any(is_required) => return Err(error),
            Err(error) => sandboxes.impossible = Some(error),
        }
        Ok(sandboxes)
    }

    /// Returns why commands for which no sandbox is asked have none, although nobody wanted that.
    pub fn impossible(&self) -> Option<&SandboxError> {
        self.impossible.as_ref()
    }

    /// Returns what commands are contained by, where this sandbox is asked for.
    pub fn contained_by(&self, asked: Option<Sandbox>) -> ContainedBy {
        match (asked.or(self.of_machine), &self.bwrap) {
            (Some(Sandbox::None), _) | (_, None) => ContainedBy::None,
            (Some(Sandbox::Bwrap | Sandbox::Auto) | None, Some(_)) => ContainedBy::Bwrap,
        }
    }

    /// Returns Terca's own program as commands find it in this sandbox; `None` where there is none.
    pub fn tap_program(&self, asked: Option<Sandbox>) -> Option<TapProgram> {
        match (&self.bwrap, self.contained_by(asked)) {
            (Some(bwrap), ContainedBy::Bwrap) => Some(bwrap.tap_program()),
            _ => None,
        }
    }

    /// Returns the enclosure of a command that sees `view`; `None` where there is no sandbox.
    pub fn enclosure(&self, asked: Option<Sandbox>, view: &View<'_>) -> Option<Enclosure> {
        match (&self.bwrap, self.contained_by(asked)) {
            (Some(bwrap), ContainedBy::Bwrap) => Some(bwrap.enclosure(view)),
            _ => None,
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
    Bwrap::set_up(&dir, host, &[]).map(Bwrap::into_program)
}
