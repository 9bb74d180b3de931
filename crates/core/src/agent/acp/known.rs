//! The agents that have an adapter of their own and speak the protocol too, as `acp:NAME`.
//!
//! Each has the profile, the settings, the variables and the session file of its adapter. Only its arguments differ, and, where
//! that is no loss, its MCP servers are given to it in the session.

use super::super::invocation::variables;
use super::super::{gemini_cli, qwen_code};
use super::stream::{self, Own};
use super::through_client;
use crate::agent::{Agent, Inputs, Invocation, Launch, Profile, Stdin};

/// All of them.
pub(in crate::agent) static KNOWN: &[&Agent] = &[&GEMINI_CLI, &QWEN_CODE];

static GEMINI_CLI: Agent = Agent {
    profile: Profile {
        name: "acp:gemini-cli",
        aliases: &["acp:gemini"],
        ..gemini_cli::PROFILE
    },
    invocation: |inputs| {
        let mut args = vec!["--acp", "--approval-mode", "yolo"];
        args.extend(inputs.model_option("--model"));
        other_mode(inputs, &gemini_cli::AGENT, &args, Servers::InSession)
    },
    decoder: |inputs| {
        let own = Own {
            protocol: gemini_cli::protocol(),
            reports_tokens: true,
        };
        stream::decoder(inputs, gemini_cli::ERRORS, Some(own))
    },
};

static QWEN_CODE: Agent = Agent {
    profile: Profile {
        name: "acp:qwen-code",
        aliases: &["acp:qwen"],
        ..qwen_code::PROFILE
    },
    invocation: |inputs| {
        // It gives a server of the session five seconds to connect, and that cannot be changed there.
        let args = ["--acp", "--yolo"];
        let mut started = other_mode(inputs, &qwen_code::AGENT, &args, Servers::InSettings);
        // Otherwise its first request may go out before the servers have told their tools.
        let waits = variables(&[("QWEN_CODE_LEGACY_MCP_BLOCKING", "1")]);
        started.env.extend(waits);
        started
    },
    decoder: |inputs| {
        let own = Own {
            protocol: qwen_code::protocol(),
            reports_tokens: false,
        };
        stream::decoder(inputs, qwen_code::ERRORS, Some(own))
    },
};

/// The place where an agent is given its MCP servers.
#[derive(Clone, Copy)]
enum Servers {
    InSession,
    InSettings,
}

/// Returns how to start an agent as one that speaks the protocol.
fn other_mode(inputs: &Inputs<'_>, adapter: &Agent, args: &[&str], servers: Servers) -> Invocation {
    let without_servers = Inputs {
        mcp_servers: &[],
        ..*inputs
    };
    let (of_adapter, of_session) = match servers {
        Servers::InSession => (&without_servers, inputs),
        Servers::InSettings => (inputs, &without_servers),
    };
    let usual = (adapter.invocation)(of_adapter);
    let program = adapter.profile.program.unwrap_or_default();
    let (launch, file) = through_client(of_session, Launch::program(program, args), None);
    Invocation {
        launch,
        stdin: Stdin::Prompt,
        files: usual.files.into_iter().chain([file]).collect(),
        ..usual
    }
}
