//! Everything that `terca doctor` finds on one machine: agents, sandboxes, limits and space.

use std::io;
use std::sync::Arc;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use terca_core::agent::AgentChoice;
use terca_core::config::sandbox::ContainerEngine;

use crate::host::doctor::{self, Checkup};
use crate::host::environment::Host;
use crate::limits;
use crate::process::interrupt::Interrupt;
use crate::process::supervise::Launcher;
use crate::sandbox::{self, Strength};
use crate::workspace::overlays::{self, Overlays, Wish, WorkspacesMade};
use crate::workspace::trial_dirs::WorkDir;

/// The findings of one machine. A reason in words takes the place of what does not work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Findings {
    /// The agents.
    pub agents: Vec<Checkup>,
    /// The program of bubblewrap.
    pub bwrap: Result<Utf8PathBuf, String>,
    /// The strength of Landlock.
    pub landlock: Result<Strength, String>,
    /// The program and version of each engine for containers, in the order of [`ContainerEngine::ALL`].
    pub engines: Vec<Result<(Utf8PathBuf, String), String>>,
    /// The way in which workspaces are made.
    pub workspaces: WorkspacesMade,
    /// How limits are kept, as a line.
    pub limits: String,
    /// The directory that trials work in.
    pub work_dir: Utf8PathBuf,
    /// The bytes that are free there.
    pub free_bytes: Option<u64>,
}

/// Looks at this machine. `own` has the agents for which a suite names programs.
pub fn examine(
    host: &Host,
    launcher: &Arc<Launcher>,
    own: &[AgentChoice],
    interrupt: &Interrupt,
) -> io::Result<Findings> {
    let agents = doctor::examine(host, launcher, own, interrupt)?;
    let work_dir = WorkDir::parent(host.get("TERCA_WORK_DIR"))?;
    Ok(Findings {
        agents,
        bwrap: sandbox::try_out(host).map_err(in_words),
        landlock: sandbox::try_out_landlock().map_err(in_words),
        engines: ContainerEngine::ALL
            .into_iter()
            .map(|engine| sandbox::try_engine(engine, host).map_err(in_words))
            .collect(),
        workspaces: workspaces(host, launcher)?,
        limits: limits::on_this_machine(),
        free_bytes: free_bytes(&work_dir),
        work_dir,
    })
}

/// Tries how the workspaces of a run would be made.
fn workspaces(host: &Host, launcher: &Arc<Launcher>) -> io::Result<WorkspacesMade> {
    let wish = Wish::read(host.get(overlays::VARIABLE)).map_err(io::Error::other)?;
    let work = WorkDir::create(host.get("TERCA_WORK_DIR"))?;
    Ok(Overlays::new(wish, launcher.clone()).made(&work))
}

fn in_words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns the bytes that this user can still write to the file system of a directory.
fn free_bytes(dir: &Utf8PathBuf) -> Option<u64> {
    let system = rustix::fs::statvfs(dir.as_std_path()).ok()?;
    system.f_bavail.checked_mul(system.f_frsize)
}
