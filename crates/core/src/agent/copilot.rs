//! `copilot`, GitHub's Copilot CLI, driven headlessly with `--output-format json`.
//!
//! Verified against 1.0.102. Three facts shape this file: what a request used stands only in the session's own log,
//! which grows with the session; a termination ends in a result with exit status 0, like a success; and its program
//! unpacks itself, 237 MB, into a cache of which every home would have another.

mod errors;
mod stream;
mod wire;

use serde_json::{Value, json};

use self::stream::Stream;
use super::{
    Agent, Capabilities, Decoder, Inputs, Invocation, Launch, PlacedFile, Profile, SideFile, Stdin,
    StopSignal,
};
use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::text::json as document;

#[derive(Debug)]
pub(super) struct Copilot;

static PROFILE: Profile = Profile {
    name: "copilot",
    aliases: &["copilot-cli", "github-copilot"],
    program: Some("copilot"),
    version_args: &["--version"],
    install: "npm install -g @github/copilot",
    takes_command: false,
    streams_events: true,
    rules_file: "AGENTS.md",
    credential_variables: &[
        "COPILOT_GITHUB_TOKEN",
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "COPILOT_PROVIDER_API_KEY",
        "COPILOT_PROVIDER_BEARER_TOKEN",
        "COPILOT_PROVIDER_HEADERS",
    ],
    setting_variables: &[
        "COPILOT_GH_HOST",
        "GH_HOST",
        "COPILOT_OFFLINE",
        "COPILOT_PROVIDER_BASE_URL",
        "COPILOT_PROVIDER_TYPE",
        "COPILOT_PROVIDER_WIRE_API",
        "COPILOT_PROVIDER_TRANSPORT",
        "COPILOT_PROVIDER_AZURE_API_VERSION",
        "COPILOT_PROVIDER_API_KEY_COMMAND",
        "COPILOT_PROVIDER_MODEL_ID",
        "COPILOT_PROVIDER_WIRE_MODEL",
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS",
        "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS",
        // Its program, unpacked: where this is not set, every trial unpacks its own.
        "COPILOT_PKG_CACHE_HOME",
    ],
    // What it keeps of a sign-in lies in the system's keyring, or among its state and not by itself.
    credential_files: &[],
    skills_dir: ".github/skills",
    proved_with: "1.0.102",
    // It ends its tools.
    stop_signal: StopSignal::Terminate,
    capabilities: Capabilities::ALL,
};

/// The session's log, in which every answer has its figures.
const LOG: &str = "session.jsonl";

impl Agent for Copilot {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let mut args: Vec<String> = [
            "--output-format",
            "json",
            // Without it every tool is denied, and the session succeeds all the same.
            "--allow-all",
            "--no-ask-user",
            "--no-auto-update",
            "--no-color",
            "--disable-client-telemetry",
            "--session-id",
            inputs.session_id,
        ]
        .map(str::to_owned)
        .into();
        if let Some(model) = inputs.model {
            args.extend(["--model".to_owned(), model.to_owned()]);
        }
        let state = inputs.agent_home.join(".copilot");
        let mut files = vec![PlacedFile {
            path: state.join("settings.json"),
            content: format!("{:#}\n", settings(inputs.config)),
            artifact: "settings.json",
        }];
        if !inputs.mcp_servers.is_empty() {
            let servers = inputs
                .mcp_servers
                .iter()
                .map(|(name, server)| (name.clone(), mcp_settings(server)));
            let servers = json!({ "mcpServers": Value::Object(servers.collect()) });
            files.push(PlacedFile {
                path: state.join("mcp-config.json"),
                content: format!("{servers:#}\n"),
                artifact: "mcp-config.json",
            });
        }
        Invocation {
            launch: Launch::Program {
                program: "copilot".into(),
                args,
            },
            env: vec![
                ("COPILOT_HOME".to_owned(), state.to_string()),
                ("COPILOT_AUTO_UPDATE".to_owned(), "false".to_owned()),
            ],
            stdin: Stdin::Prompt,
            files,
            side_files: vec![SideFile {
                dir: state.join("session-state"),
                glob: "*/events.jsonl",
                label: LOG,
            }],
        }
    }

    fn decoder(&self, inputs: &Inputs<'_>) -> Box<dyn Decoder> {
        Box::new(Stream::new(
            inputs
                .mcp_servers
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
        ))
    }
}

/// Our settings, with the user's `config` laid over them.
fn settings(config: Option<&Value>) -> Value {
    let mut settings = json!({
        // An editor that happens to be open is no part of the trial; nor are agents that an organisation has.
        "ide": { "autoConnect": false },
        "customAgents": { "defaultLocalOnly": true },
    });
    if let Some(config) = config {
        document::merge(&mut settings, config);
    }
    settings
}

fn mcp_settings(server: &McpServer<String>) -> Value {
    let mut settings = match server.with_cwd_wrapped() {
        McpServer::Stdio {
            command, args, env, ..
        } => {
            json!({ "type": "local", "command": command, "args": args, "env": document::object(&env) })
        }
        McpServer::Remote {
            url,
            headers,
            transport,
        } => {
            let kind = match transport {
                RemoteTransport::Http => "http",
                RemoteTransport::Sse => "sse",
            };
            json!({ "type": kind, "url": url, "headers": document::object(&headers) })
        }
    };
    settings["tools"] = json!(["*"]);
    settings
}

#[cfg(test)]
mod tests;
