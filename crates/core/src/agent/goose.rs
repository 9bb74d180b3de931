//! `goose`, driven headlessly with `run --output-format stream-json`.
//!
//! Verified against 1.52.0. Three facts shape this file: a provider is needed beside the model, so a model is
//! written `provider/name`; a service that fails shows as a message of goose's own, with exit status 0; and a
//! broken MCP server shows only on standard error.

mod errors;
mod stream;
mod wire;

use serde_json::{Value, json};

use self::stream::Stream;
use super::{
    Agent, Capabilities, Decoder, Inputs, Invocation, Launch, PlacedFile, Profile, Stdin,
    StopSignal,
};
use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::text::json as document;

#[derive(Debug)]
pub(super) struct Goose;

static PROFILE: Profile = Profile {
    name: "goose",
    aliases: &[],
    program: Some("goose"),
    version_args: &["--version"],
    install: "https://goose-docs.ai/docs/getting-started/installation",
    takes_command: false,
    streams_events: true,
    rules_file: "AGENTS.md",
    credential_variables: &[
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GOOGLE_API_KEY",
        "OPENROUTER_API_KEY",
        "DATABRICKS_TOKEN",
        "GROQ_API_KEY",
        "XAI_API_KEY",
    ],
    setting_variables: &[
        "GOOSE_PROVIDER",
        "OPENAI_HOST",
        "OPENAI_BASE_PATH",
        "ANTHROPIC_HOST",
        "GOOGLE_HOST",
        "OLLAMA_HOST",
        "DATABRICKS_HOST",
    ],
    credential_files: &[],
    skills_dir: ".agents/skills",
    proved_with: "1.52.0",
    // It ends its tools and says so; a termination would leave them behind.
    stop_signal: StopSignal::Interrupt,
    capabilities: Capabilities::ALL,
};

/// How long a request to an extension may take, a call of its tools included. This is goose's own default.
const EXTENSION_SECONDS: u32 = 300;

impl Agent for Goose {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let args = [
            "run",
            "--quiet",
            "--no-session",
            "--output-format",
            "stream-json",
            "--instructions",
            "-",
        ];
        let root = inputs.agent_home.join("goose");
        let mut env = vec![
            // Settings, data and state lie below it.
            ("GOOSE_PATH_ROOT", root.as_str()),
            ("GOOSE_MODE", "auto"),
            ("GOOSE_DISABLE_KEYRING", "1"),
            // It would ask the model for a title.
            ("GOOSE_DISABLE_SESSION_NAMING", "true"),
            ("GOOSE_TELEMETRY_ENABLED", "false"),
            ("NO_COLOR", "1"),
        ];
        env.extend(inputs.model.into_iter().flat_map(model_variables));
        Invocation {
            launch: Launch::Program {
                program: "goose".into(),
                args: args.map(str::to_owned).into(),
            },
            env: env
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            stdin: Stdin::Prompt,
            files: vec![PlacedFile {
                path: root.join("config/config.yaml"),
                // JSON is YAML.
                content: format!("{:#}\n", settings(inputs)),
                artifact: "config.yaml",
            }],
            side_files: Vec::new(),
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

/// `provider/name`; without a provider, `GOOSE_PROVIDER` of the environment says which.
fn model_variables(model: &str) -> Vec<(&'static str, &str)> {
    match model.split_once('/') {
        Some((provider, name)) => vec![("GOOSE_PROVIDER", provider), ("GOOSE_MODEL", name)],
        None => vec![("GOOSE_MODEL", model)],
    }
}

/// Our settings, with the user's `config` laid over them.
fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({
        "extensions": {
            // Without it goose has neither a shell nor an editor.
            "developer": {
                "enabled": true,
                "type": "builtin",
                "name": "developer",
                "bundled": true,
                "timeout": EXTENSION_SECONDS,
            },
        },
    });
    for (name, server) in inputs.mcp_servers {
        settings["extensions"][name] = mcp_settings(name, server);
    }
    if let Some(config) = inputs.config {
        document::merge(&mut settings, config);
    }
    settings
}

fn mcp_settings(name: &str, server: &McpServer<String>) -> Value {
    let map = |pairs: &[(String, String)]| -> Value {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    let mut settings = match server.with_cwd_wrapped() {
        McpServer::Stdio {
            command, args, env, ..
        } => {
            json!({ "type": "stdio", "cmd": command, "args": args, "envs": map(&env) })
        }
        McpServer::Remote {
            url,
            headers,
            transport: RemoteTransport::Http,
        } => {
            json!({ "type": "streamable_http", "uri": url, "headers": map(&headers) })
        }
        // No longer supported: goose says so, and the trial is an error that passes it on.
        McpServer::Remote {
            url,
            headers,
            transport: RemoteTransport::Sse,
        } => {
            json!({ "type": "sse", "uri": url, "headers": map(&headers) })
        }
    };
    settings["name"] = json!(name);
    settings["enabled"] = json!(true);
    settings["timeout"] = json!(EXTENSION_SECONDS);
    settings
}

#[cfg(test)]
mod tests;
