//! An agent is given work: a trial's agent in its workspace, or any other in a room of its own.
//!
//! Here is what both have in common before the process starts; `process` has the rest.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use serde_json::Value;
use terca_core::agent::AgentChoice;
use terca_core::agent::mcp::McpServer;
use terca_core::agent::{Decoder, Inputs, Invocation, Profile, Stdin};
use terca_core::text::mask::Mask;
use terca_core::trial_error::ErrorKind;

use super::Stop;
use crate::host::environment::{Variables, find_program};
use crate::trial::log::copy_masked;
use crate::workspace::trial_dirs::Room;

/// Who is to do what, and with what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order<'a> {
    pub(super) agent: &'a AgentChoice,
    pub(super) model: Option<&'a str>,
    pub(super) mcp_servers: &'a [(String, McpServer<String>)],
    pub(super) config: Option<&'a Value>,
    pub(super) prompt: &'a str,
}

/// Where an agent works, and where what it leaves is kept.
#[derive(Debug, Clone)]
pub(super) struct Seat {
    pub(super) workspace: Utf8PathBuf,
    pub(super) home: Utf8PathBuf,
    pub(super) io: Utf8PathBuf,
    pub(super) artifacts: Utf8PathBuf,
    pub(super) transcript: Utf8PathBuf,
}

impl Seat {
    pub(super) fn in_room(room: &Room, artifacts: Utf8PathBuf, transcript: Utf8PathBuf) -> Self {
        Seat {
            workspace: room.workspace.clone(),
            home: room.agent_home.clone(),
            io: room.io.clone(),
            artifacts,
            transcript,
        }
    }

    pub(super) fn prompt_file(&self) -> Utf8PathBuf {
        self.io.join("prompt.txt")
    }

    /// The prompt in the form that the agent needs, where it needs another.
    pub(super) fn stdin_file(&self) -> Utf8PathBuf {
        self.io.join("stdin.txt")
    }
}

/// The agent's program, where it is one.
pub(super) fn find(profile: &Profile, env: &Variables) -> Result<Option<Utf8PathBuf>, Stop> {
    let Some(name) = profile.program else {
        return Ok(None);
    };
    let path = env.get("PATH").map(String::as_str).unwrap_or_default();
    match find_program(name, path) {
        Some(program) => Ok(Some(program)),
        None => {
            let message = format!("`{name}` is not installed (to get it: {})", profile.install);
            Err(Stop::error(ErrorKind::AgentMissing, message))
        }
    }
}

/// Writes the prompt and the agent's own settings, and says how it is to be started.
pub(super) fn place(
    seat: &Seat,
    order: &Order<'_>,
    env: &Variables,
    mask: &Mask,
) -> Result<(Invocation, Box<dyn Decoder>), Stop> {
    let prompt_file = seat.prompt_file();
    fs_err::write(&prompt_file, order.prompt)?;
    let variables: BTreeSet<String> = env.keys().cloned().collect();
    let inputs = Inputs {
        model: order.model,
        mcp_servers: order.mcp_servers,
        config: order.config,
        command: order.agent.command.as_deref(),
        agent_home: &seat.home,
        workspace: &seat.workspace,
        git: seat.workspace.join(".git").exists(),
        prompt: order.prompt,
        session_id: &random_uuid(),
        superuser: rustix::process::geteuid().is_root(),
        prompt_file: &prompt_file,
        stats_file: &seat.io.join("stats.json"),
        variables: &variables,
    };
    let invocation = order.agent.agent.invocation(&inputs);
    if let Stdin::Text(text) = &invocation.stdin {
        fs_err::write(seat.stdin_file(), text)?;
    }
    for file in &invocation.files {
        fs_err::create_dir_all(file.path.parent().unwrap_or(&seat.home))?;
        fs_err::write(&file.path, &file.content)?;
        copy_masked(
            file.content.as_bytes(),
            &seat.artifacts.join(file.artifact),
            mask,
        )?;
    }
    Ok((invocation, order.agent.agent.decoder(&inputs)))
}

/// Version 4: random, but for the six bits that say so.
fn random_uuid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_are_uuids_of_version_4() {
        for _ in 0..100 {
            let name = random_uuid();
            let parts: Vec<usize> = name.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12]);
            assert_eq!(&name[14..15], "4");
            assert!("89ab".contains(&name[19..20]), "{name}");
        }
    }
}
