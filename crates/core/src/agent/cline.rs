//! `cline`, driven headlessly with `--json`.
//!
//! Verified against 3.0.65. Four facts shape this file: a prompt is read from standard input only where that is a pipe
//! (of a file it may see nothing) and there is another among the arguments; a hub is left running unless it is told to do without; the figures of a session leave its sub-agents
//! out, those of single requests do not; and what became of an MCP server, or with which status a service refused,
//! stands only in its log.

mod errors;
mod log;
mod stream;
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
pub(super) struct Cline;

static PROFILE: Profile = Profile {
    name: "cline",
    aliases: &[],
    program: Some("cline"),
    version_args: &["--version"],
    install: "npm install -g cline",
    takes_command: false,
    streams_events: true,
    rules_file: "AGENTS.md",
    credential_variables: &[
        "CLINE_API_KEY",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "DEEPSEEK_API_KEY",
        "GROQ_API_KEY",
        "XAI_API_KEY",
        "CEREBRAS_API_KEY",
        "AI_GATEWAY_API_KEY",
    ],
    setting_variables: &[],
    credential_files: &[CredentialFile {
        from: ".cline/data/settings/providers.json",
        to: ".cline/data/settings/providers.json",
    }],
    skills_dir: ".cline/skills",
    proved_with: "3.0.65",
    // While a tool runs it heeds no signal, and then there is the time that it is given.
    stop_signal: StopSignal::Terminate,
    capabilities: Capabilities::ALL,
};

/// The log that has what the stream leaves out.
const LOG: &str = "cline.log";

impl Agent for Cline {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let mut args = ["--json", "--auto-approve", "true"]
            .map(str::to_owned)
            .to_vec();
        args.extend(inputs.model.into_iter().flat_map(model_arguments));
        // A blank goes away when the two are joined, and what was written arrives as it was: of any length, of one
        // word, with whatever beginning.
        args.push("' '".to_owned());
        let env = [
            // Otherwise it leaves a daemon behind.
            ("CLINE_SESSION_BACKEND_MODE", "local"),
            ("CLINE_NO_AUTO_UPDATE", "1"),
        ];
        let data = inputs.agent_home.join(".cline/data");
        Invocation {
            launch: Launch::Shell(format!("cat | cline {}", args.join(" "))),
            env: env
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            stdin: Stdin::Prompt,
            files: settings_files(inputs),
            side_files: vec![SideFile {
                dir: data.join("logs"),
                glob: LOG,
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

/// `provider/name`; without a provider, the one that was signed in to last is used.
fn model_arguments(model: &str) -> Vec<String> {
    match model.split_once('/') {
        Some((provider, name)) => {
            vec![
                "--provider".to_owned(),
                quoted(provider),
                "--model".to_owned(),
                quoted(name),
            ]
        }
        None => vec!["--model".to_owned(), quoted(model)],
    }
}

/// For a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Its settings are three files: of everything, of the providers, of the MCP servers. The user's `config` is laid over
/// the first, but for its `providers`, which are the second.
fn settings_files(inputs: &Inputs<'_>) -> Vec<PlacedFile> {
    let place = |name: &'static str, content: &Value| PlacedFile {
        path: inputs.agent_home.join(".cline/data/settings").join(name),
        content: format!("{content:#}\n"),
        artifact: name,
    };
    let mut general = json!({ "telemetryOptOut": true, "autoUpdateEnabled": false });
    if let Some(config) = inputs.config {
        document::merge(&mut general, config);
    }
    let providers = general
        .as_object_mut()
        .and_then(|general| general.remove("providers"));
    let mut files = vec![place("global-settings.json", &general)];
    if let Some(Value::Object(providers)) = providers {
        files.push(place("providers.json", &provider_settings(providers)));
    }
    if !inputs.mcp_servers.is_empty() {
        let servers = inputs
            .mcp_servers
            .iter()
            .map(|(name, server)| (name.clone(), mcp_settings(server)));
        let servers = json!({ "mcpServers": Value::Object(servers.collect()) });
        files.push(place("cline_mcp_settings.json", &servers));
    }
    files
}

/// As `cline auth` writes them.
fn provider_settings(providers: serde_json::Map<String, Value>) -> Value {
    let last = providers.keys().next().cloned();
    let providers = providers.into_iter().map(|(id, mut settings)| {
        if let Some(settings) = settings.as_object_mut() {
            settings.insert("provider".into(), json!(id));
        }
        let entry = json!({
            "settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
        });
        (id, entry)
    });
    json!({ "version": 1, "lastUsedProvider": last, "providers": Value::Object(providers.collect()) })
}

fn mcp_settings(server: &McpServer<String>) -> Value {
    match server {
        McpServer::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            let mut settings = json!({ "type": "stdio", "command": command, "args": args, "env": document::object(env) });
            if let Some(cwd) = cwd {
                settings["cwd"] = json!(cwd);
            }
            settings
        }
        McpServer::Remote {
            url,
            headers,
            transport,
        } => {
            let kind = match transport {
                RemoteTransport::Http => "streamableHttp",
                RemoteTransport::Sse => "sse",
            };
            json!({ "type": kind, "url": url, "headers": document::object(headers) })
        }
    }
}

#[cfg(test)]
mod tests;
