//! Attachments of a command: everything between it and the world that is not its own program.
//!
//! An attachment changes what a command is started with, looks after it while it runs, and is detached at its end with
//! what it has learned. A new one is a file here, and a line in [`of_agent`] or [`of_command`].

mod limits;
mod models;
pub(super) mod network;
mod recordings;
mod servers;
pub(super) mod side_files;

use std::collections::BTreeSet;
use std::time::Instant;

use camino::Utf8PathBuf;
use rustix::process::Pid;
use serde::Serialize;
use serde_json::Value;
use terca_core::agent::access::Access;
use terca_core::agent::mcp::McpServer;
use terca_core::agent::{Profile, Reading, TimeLimit, WireEnd};
use terca_core::transcript::Record;
use terca_core::wire::Wire;
use terca_core::wire::network::TrialNetwork;

use super::agent_request::{AgentDirs, AgentRequest};
use super::context::Context;
use super::stage_error::StageError;
use super::trial_run::TrialRun;
use crate::host::environment::Variables;
use crate::process::confine::Confinement;
use crate::process::supervise::{Enclosure, Ended, Turn};
pub(super) use limits::Limited;
use limits::Limits;
use network::AgentNetwork;

/// Something between a command and the world.
pub(super) trait Attachment {
    /// Changes the walls that the command runs behind.
    fn enclose(&mut self, walls: Option<Enclosure>) -> Result<Option<Enclosure>, StageError> {
        Ok(walls)
    }

    /// Looks after the command while it runs. All of its processes are below `root`.
    fn on_turn(&mut self, _root: Option<Pid>) -> Turn {
        Turn::Wait
    }

    /// Adds what was learned to the end of the command.
    fn detach(self: Box<Self>, end: &mut CommandEnd<'_, '_>) -> Result<(), StageError>;
}

/// The attachments of a command, in the order in which they are attached and detached.
pub(super) type Attachments<'a> = Vec<Box<dyn Attachment + 'a>>;

/// Everything that an agent is started with, while attachments change it.
pub(super) struct AgentStart<'a> {
    pub context: &'a Context,
    pub request: &'a AgentRequest<'a>,
    pub profile: &'static Profile,
    pub dirs: &'a AgentDirs,
    /// The version of its program.
    pub version: Option<&'a str>,
    /// The environment that it is started with.
    pub env: Variables,
    /// The same, as it would be without a gateway.
    pub own_env: Variables,
    /// Its settings.
    pub config: Option<Value>,
    pub mcp_servers: Vec<(String, McpServer<String>)>,
    /// Its own services and keys.
    pub access: Access,
    /// The origins that the gateway asks for it.
    pub led_origins: Vec<String>,
    /// It has an address of the gateway.
    pub needs_gateway: bool,
    /// Its requests to models pass through the gateway.
    pub is_metered: bool,
    /// The moment from which its requests are timed.
    pub began: Option<Instant>,
    pub network: AgentNetwork,
    /// Remarks about the way to its models and servers.
    pub notes: Vec<String>,
}

impl<'a> AgentStart<'a> {
    /// Begins with an environment, before anything is attached.
    pub(super) fn new(
        context: &'a Context,
        request: &'a AgentRequest<'a>,
        profile: &'static Profile,
        dirs: &'a AgentDirs,
        version: Option<&'a str>,
        env: Variables,
    ) -> Self {
        AgentStart {
            context,
            request,
            profile,
            dirs,
            version,
            own_env: env.clone(),
            env,
            config: request.config.cloned(),
            mcp_servers: request.mcp_servers.to_vec(),
            access: Access::default(),
            led_origins: Vec::new(),
            needs_gateway: false,
            is_metered: false,
            began: None,
            network: AgentNetwork::default(),
            notes: Vec::new(),
        }
    }
}

/// The end of a command.
pub(super) struct CommandEnd<'a, 'run> {
    pub run: &'a mut TrialRun<'run>,
    pub ended: Ended,
    /// The session of an agent.
    pub session: Option<&'a mut AgentEnd>,
}

/// The end of an agent's session.
pub(super) struct AgentEnd {
    pub ended: Ended,
    pub reading: Reading,
    /// Set if its time limit ended it.
    pub time_limit: Option<TimeLimit>,
    /// The directory for files that are kept.
    pub artifacts: Utf8PathBuf,
    /// The MCP servers whose calls the agent has shown.
    pub shown_servers: BTreeSet<String>,
    /// Further records for its transcript.
    pub records: Vec<Record>,
    /// Its requests to models, if they passed through the gateway.
    pub wire: Option<Wire>,
    /// The reason of its end, as these requests tell it.
    pub wire_end: Option<WireEnd>,
    /// The network of a contained agent.
    pub network: Option<TrialNetwork>,
    /// It met one of its limits.
    pub ran_into_limit: bool,
}

impl AgentEnd {
    /// Returns an end of which nothing but these is known.
    pub(super) fn new(ended: Ended, reading: Reading) -> Self {
        AgentEnd {
            ended,
            reading,
            time_limit: None,
            artifacts: Utf8PathBuf::new(),
            shown_servers: BTreeSet::new(),
            records: Vec::new(),
            wire: None,
            wire_end: None,
            network: None,
            ran_into_limit: false,
        }
    }
}

/// Attaches everything to an agent that is about to start. The network comes last: it lets through what the others need.
pub(super) fn of_agent(start: &mut AgentStart<'_>) -> Result<Attachments<'static>, StageError> {
    Ok(vec![
        models::attach(start)?,
        servers::attach(start)?,
        network::attach(start)?,
    ])
}

/// Returns the attachments of every command of a trial.
pub(super) fn of_command<'a>(
    run: &TrialRun<'a>,
    limited: Option<Limited>,
) -> Result<Attachments<'a>, StageError> {
    let mut attachments: Attachments<'a> = Vec::new();
    if let Some(mounts) = run.dirs.mounts().transpose()? {
        attachments.push(Box::new(MountedWorkspace(mounts)));
    }
    if let Some(limited) = limited {
        attachments.push(Box::new(Limits::new(run, limited)));
    }
    Ok(attachments)
}

/// Detaches everything from a command that has ended.
pub(super) fn detach(
    attachments: Attachments<'_>,
    end: &mut CommandEnd<'_, '_>,
) -> Result<(), StageError> {
    attachments
        .into_iter()
        .try_for_each(|attachment| attachment.detach(end))
}

/// Returns a line of JSON for each of these.
fn json_lines<T: Serialize>(items: &[T]) -> serde_json::Result<String> {
    let lines = items.iter();
    lines
        .map(|item| Ok(serde_json::to_string(item)? + "\n"))
        .collect()
}

/// A workspace that is mounted where only the commands of its trial see it.
struct MountedWorkspace(Confinement);

impl Attachment for MountedWorkspace {
    fn enclose(&mut self, walls: Option<Enclosure>) -> Result<Option<Enclosure>, StageError> {
        Ok(Some(Enclosure::confined(walls, &self.0)))
    }

    fn detach(self: Box<Self>, _end: &mut CommandEnd<'_, '_>) -> Result<(), StageError> {
        Ok(())
    }
}
