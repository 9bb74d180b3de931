//! `acp`: any agent that speaks the Agent Client Protocol, version 1, over its standard input and output.
//!
//! Terca's own program is the client. It runs inside the trial in the place of the agent (`engine::trial::acp_client`), starts the
//! agent's command, and prints the session, an event on a line, which the decoder here reads like the stream of any other agent. So
//! limits, sandboxes, tails and kills are the same for all agents.
//!
//! Two facts shape this adapter: the protocol has no name for a tool, only a title and a kind; and its field for tokens means
//! another thing for each agent, so the figures come from the gateway or from an agent's own session file.
//!
//! Rejected: the crate `agent-client-protocol` (last looked at: 5.0.0). It and its types turn on `preserve_order` of `serde_json` for the
//! whole program, which changes the order of the keys in all files that Terca writes, and with it their fingerprints. Its connection is
//! async, and holds lines of any length.

mod known;
mod settings;
mod stream;
mod tools;

use super::prelude::*;

use camino::Utf8PathBuf;

pub(super) use known::KNOWN;
use stream::AcpStream;

/// The code of an error that asks to sign in first.
pub const AUTH_REQUIRED: i64 = -32000;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "acp",
        version_args: &[],
        install: Some("check the `command` of the agent"),
        takes_command: true,
        takes_registry: true,
        services: COMMON_SERVICES,
        skills_dir: ".agents/skills",
        skippable: stream::SKIPPABLE,
        capabilities: Capabilities {
            config: false,
            ..Capabilities::ALL
        },
        ..Profile::USUAL
    },
    invocation,
    protocol: |inputs| Box::new(AcpStream::of_command(inputs.command.unwrap_or_default())),
};

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let agent = Launch::command(inputs);
    let (launch, file) = through_client(inputs, agent, inputs.model, &Value::Null);
    Invocation {
        files: vec![file],
        ..Invocation::of(launch, &[])
    }
}

/// Returns the start of an agent by way of the client, and the client's settings. `model` is the one that is chosen by the
/// protocol, and `meta` is what the session is asked for beside the protocol.
fn through_client(
    inputs: &Inputs<'_>,
    agent: Launch,
    model: Option<&str>,
    meta: &Value,
) -> (Launch, PlacedFile) {
    let dir: Utf8PathBuf = inputs.agent_home.join(".terca");
    let settings = settings::session_settings(inputs, model, meta);
    let file = PlacedFile::json(&dir, settings::FILE, &settings);
    let launch = Launch::AcpClient {
        settings: file.path.clone(),
        agent: Box::new(agent),
    };
    (launch, file)
}

#[cfg(test)]
mod tests;
