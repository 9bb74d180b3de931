//! `codex`: OpenAI's Codex CLI, driven headlessly with `codex exec --json`.
//!
//! Verified against 0.166.0. Three facts shape this file: its stream names no model and has the figures of the
//! main thread only (all of them stand in the rollout files it keeps), a broken MCP server goes unmentioned
//! unless it is required, and a lost connection is tried again for ever unless that is switched off.

mod errors;
mod figures;
mod stream;
mod toml;
mod wire;

use serde_json::{Value, json};

use self::stream::Stream;
use super::{
    Agent, Capabilities, CredentialFile, Decoder, Inputs, Invocation, Launch, PlacedFile, Profile,
    SideFile, Stdin, StopSignal,
};
use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::text::json as document;

#[derive(Debug)]
pub(super) struct Codex;

static PROFILE: Profile = Profile {
    name: "codex",
    aliases: &[],
    program: Some("codex"),
    version_args: &["--version"],
    install: "npm install -g @openai/codex",
    takes_command: false,
    streams_events: true,
    rules_file: "AGENTS.md",
    credential_variables: &["CODEX_API_KEY", "OPENAI_API_KEY"],
    setting_variables: &[],
    credential_files: &[CredentialFile {
        from: ".codex/auth.json",
        to: ".codex/auth.json",
    }],
    skills_dir: ".agents/skills",
    proved_with: "0.166.0",
    // Anything harder leaves the grandchildren of its tools behind.
    stop_signal: StopSignal::Interrupt,
    capabilities: Capabilities::ALL,
};

/// How often a failed request, and a stream that broke off, are tried again. They multiply; by default to 30.
const RETRIES: u32 = 2;
/// How long an MCP server may take to start.
const MCP_SECONDS: u32 = 30;
/// The provider that signs in with `OPENAI_API_KEY`, which the built-in one does not read.
const KEY_PROVIDER: &str = "openai-key";

impl Agent for Codex {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let codex_home = inputs.agent_home.join(".codex");
        Invocation {
            launch: Launch::Program {
                program: "codex".into(),
                args: arguments(inputs),
            },
            env: vec![("CODEX_HOME".into(), codex_home.to_string())],
            stdin: Stdin::Prompt,
            files: vec![PlacedFile {
                path: codex_home.join("config.toml"),
                content: toml::write(&settings(inputs)),
                artifact: "config.toml",
            }],
            side_files: vec![SideFile {
                dir: codex_home.join("sessions"),
                glob: "**/rollout-*.jsonl",
                label: "rollout.jsonl",
            }],
        }
    }

    fn decoder(&self, inputs: &Inputs<'_>) -> Box<dyn Decoder> {
        let servers = inputs
            .mcp_servers
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        Box::new(Stream::new(servers, notes(inputs)))
    }
}

fn arguments(inputs: &Inputs<'_>) -> Vec<String> {
    let mut args = vec![
        "exec",
        "--json",
        // A setting that it does not know is an error, not a warning that nobody reads.
        "--strict-config",
        "--skip-git-repo-check",
        // By default it may only read.
        "--dangerously-bypass-approvals-and-sandbox",
        "-C",
        inputs.workspace.as_str(),
    ];
    if let Some(model) = inputs.model {
        args.extend(["-m", model]);
    }
    // The prompt comes by standard input.
    args.push("-");
    args.into_iter().map(str::to_owned).collect()
}

/// What has to be said before the session begins.
fn notes(inputs: &Inputs<'_>) -> Vec<String> {
    let sse = |server: &McpServer<String>| {
        matches!(
            server,
            McpServer::Remote {
                transport: RemoteTransport::Sse,
                ..
            }
        )
    };
    let servers = inputs.mcp_servers.iter().filter(|(_, server)| sse(server));
    servers
        .map(|(name, _)| {
            format!(
                "codex has no `sse` transport: the MCP server `{name}` was given to it as `http`"
            )
        })
        .collect()
}

/// Our settings, with the user's `config` laid over them.
fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({
        "approval_policy": "never",
        "sandbox_mode": "danger-full-access",
        "check_for_update_on_startup": false,
        // A login shell would set `PATH` anew.
        "allow_login_shell": false,
        // Nothing from the directories above reaches the agent.
        "project_root_markers": [],
        "analytics": { "enabled": false },
        "features": { "plugins": false, "apps": false, "unbounded_connection_retries": false },
    });
    let has = |name: &str| inputs.variables.contains(name);
    if has("OPENAI_API_KEY") && !has("CODEX_API_KEY") && !names_a_provider(inputs.config) {
        settings["model_provider"] = json!(KEY_PROVIDER);
        settings["model_providers"] = json!({ KEY_PROVIDER: {
            "name": "OpenAI",
            "base_url": "https://api.openai.com/v1",
            "env_key": "OPENAI_API_KEY",
            "wire_api": "responses",
        } });
    }
    if !inputs.mcp_servers.is_empty() {
        let servers = inputs
            .mcp_servers
            .iter()
            .map(|(name, server)| (name.clone(), mcp_settings(server)));
        settings["mcp_servers"] = Value::Object(servers.collect());
    }
    if let Some(config) = inputs.config {
        document::merge(&mut settings, config);
    }
    bound_retries(&mut settings);
    settings
}

fn names_a_provider(config: Option<&Value>) -> bool {
    config.is_some_and(|config| config.get("model_provider").is_some())
}

/// Gives every provider a limit that has none. The built-in one has its own, and takes no other.
fn bound_retries(settings: &mut Value) {
    let providers = settings
        .get_mut("model_providers")
        .and_then(Value::as_object_mut);
    for provider in providers
        .into_iter()
        .flatten()
        .filter_map(|(_, provider)| provider.as_object_mut())
    {
        for limit in ["request_max_retries", "stream_max_retries"] {
            provider.entry(limit).or_insert_with(|| json!(RETRIES));
        }
    }
}

fn mcp_settings(server: &McpServer<String>) -> Value {
    let map = |pairs: &[(String, String)]| -> Value {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    let mut settings = match server {
        McpServer::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            let mut settings = json!({ "command": command, "args": args, "env": map(env) });
            if let Some(cwd) = cwd {
                settings["cwd"] = json!(cwd);
            }
            settings
        }
        McpServer::Remote { url, headers, .. } => {
            json!({ "url": url, "http_headers": map(headers) })
        }
    };
    // Otherwise the session starts without it when it is slow or broken, and says nothing.
    settings["required"] = json!(true);
    settings["startup_timeout_sec"] = json!(MCP_SECONDS);
    settings
}

#[cfg(test)]
mod tests;
