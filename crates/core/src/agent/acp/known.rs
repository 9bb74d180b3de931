//! The agents that have an adapter of their own and speak the protocol too, as `acp:NAME`.
//!
//! Each has the profile, the settings, the variables and the session file of its adapter. Only its arguments differ, and, where
//! that is no loss, its MCP servers are given to it in the session.

use super::super::gemini_cli;
use super::super::qwen_code;
use super::stream::{self, AcpStream};
use super::through_client;
use crate::agent::prelude::*;

/// All of them.
pub(in crate::agent) static KNOWN: &[&Agent] = &[&GEMINI_CLI, &QWEN_CODE];

static GEMINI_CLI: Agent = Agent {
    profile: Profile {
        name: "acp:gemini-cli",
        aliases: &["acp:gemini"],
        // In its session file.
        reports_tokens: true,
        skill_tool: None,
        skippable: stream::SKIPPABLE,
        ..gemini_cli::PROFILE
    },
    invocation: |inputs| {
        let mut args = vec!["--acp", "--approval-mode", "yolo"];
        args.extend(inputs.model_option("--model"));
        other_mode(&without_servers(inputs), inputs, &gemini_cli::AGENT, &args)
    },
    protocol: |inputs| Box::new(AcpStream::of((gemini_cli::AGENT.protocol)(inputs))),
};

static QWEN_CODE: Agent = Agent {
    profile: Profile {
        name: "acp:qwen-code",
        aliases: &["acp:qwen"],
        skill_tool: None,
        skippable: stream::SKIPPABLE,
        ..qwen_code::PROFILE
    },
    invocation: |inputs| {
        // It gives a server of the session five seconds to connect, and that cannot be changed there.
        let args = ["--acp", "--yolo"];
        let of_session = without_servers(inputs);
        let mut started = other_mode(inputs, &of_session, &qwen_code::AGENT, &args);
        // Otherwise its first request may go out before the servers have told their tools.
        let waits = "QWEN_CODE_LEGACY_MCP_BLOCKING";
        started.env.push((waits.to_owned(), "1".to_owned()));
        started
    },
    protocol: |inputs| Box::new(AcpStream::of((qwen_code::AGENT.protocol)(inputs))),
};

/// Returns the trial without MCP servers.
fn without_servers<'a>(inputs: &Inputs<'a>) -> Inputs<'a> {
    Inputs {
        mcp_servers: &[],
        ..*inputs
    }
}

/// Returns how to start an agent as one that speaks the protocol. Its MCP servers are those of its settings and those of
/// the session.
fn other_mode(
    of_settings: &Inputs<'_>,
    of_session: &Inputs<'_>,
    adapter: &Agent,
    args: &[&str],
) -> Invocation {
    let usual = (adapter.invocation)(of_settings);
    let program = adapter.profile.program.unwrap_or_default();
    let (launch, file) = through_client(of_session, Launch::program(program, args), None);
    Invocation {
        launch,
        stdin: Stdin::Prompt,
        files: usual.files.into_iter().chain([file]).collect(),
        ..usual
    }
}
