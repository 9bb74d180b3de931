//! `gemini-cli`: Google's Gemini CLI, driven headlessly with `-o stream-json`.
//!
//! Verified against 0.61.0. Three facts shape this file: exit status 0 proves nothing (only a `result` event
//! with status `success` does), the number of model requests stands only in the session file, and a broken MCP
//! server shows only as a line on standard error.

mod errors;
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
pub(super) struct GeminiCli;

static PROFILE: Profile = Profile {
    name: "gemini-cli",
    aliases: &["gemini"],
    program: Some("gemini"),
    version_args: &["--version"],
    install: "npm install -g @google/gemini-cli",
    takes_command: false,
    streams_events: true,
    rules_file: "GEMINI.md",
    credential_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    setting_variables: &[
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_GCA",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ],
    credential_files: &[
        CredentialFile {
            from: ".gemini/oauth_creds.json",
            to: ".gemini/oauth_creds.json",
        },
        CredentialFile {
            from: ".gemini/google_accounts.json",
            to: ".gemini/google_accounts.json",
        },
    ],
    skills_dir: ".gemini/skills",
    proved_with: "0.61.0",
    stop_signal: StopSignal::Terminate,
    capabilities: Capabilities::ALL,
};

/// How often a failed request is tried again. The default of 10 takes minutes.
const ATTEMPTS: u32 = 3;
/// How long an MCP server may take for an answer, its first and any other. The default is ten minutes.
const MCP_MILLISECONDS: u32 = 120_000;

impl Agent for GeminiCli {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let mut args = vec![
            "--approval-mode".to_owned(),
            "yolo".into(),
            "--output-format".into(),
            "stream-json".into(),
        ];
        if let Some(model) = inputs.model {
            args.extend(["--model".to_owned(), model.to_owned()]);
        }
        let env = [
            ("GEMINI_CLI_HOME", inputs.agent_home.as_str()),
            // The workspace is ours; without trust `yolo` is refused.
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            // One process instead of two: quicker, and signals arrive.
            ("GEMINI_CLI_NO_RELAUNCH", "true"),
            ("NO_BROWSER", "true"),
            ("NO_COLOR", "1"),
        ];
        Invocation {
            launch: Launch::Program {
                program: "gemini".into(),
                args,
            },
            env: env
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            stdin: Stdin::Prompt,
            files: vec![PlacedFile {
                path: inputs.agent_home.join(".gemini/settings.json"),
                content: format!("{:#}\n", settings(inputs)),
                artifact: "settings.json",
            }],
            side_files: vec![SideFile {
                dir: inputs.agent_home.join(".gemini/tmp"),
                glob: "*/chats/session-*.jsonl",
                label: "session.jsonl",
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
fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({
        "privacy": { "usageStatisticsEnabled": false },
        "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "maxAttempts": ATTEMPTS,
        },
        // Nothing from the directories above reaches the agent.
        "advanced": { "ignoreLocalEnv": true },
        "context": { "memoryBoundaryMarkers": [] },
    });
    let signs_in_otherwise = ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"]
        .iter()
        .any(|name| inputs.variables.contains(*name));
    if inputs.variables.contains("GEMINI_API_KEY") && !signs_in_otherwise {
        // Otherwise a base URL makes it guess a method that it then refuses.
        settings["security"] = json!({ "auth": { "selectedType": "gemini-api-key" } });
    }
    if !inputs.mcp_servers.is_empty() {
        settings["mcpServers"] = mcp_settings(inputs.mcp_servers, "timeout", MCP_MILLISECONDS);
    }
    if let Some(config) = inputs.config {
        document::merge(&mut settings, config);
    }
    settings
}

/// The servers as Gemini CLI, and what is built on it, wants them.
pub(super) fn mcp_settings(
    servers: &[(String, McpServer<String>)],
    limit: &str,
    milliseconds: u32,
) -> Value {
    let settings = servers.iter().map(|(name, server)| {
        let mut settings = mcp_server(server);
        settings[limit] = json!(milliseconds);
        (name.clone(), settings)
    });
    Value::Object(settings.collect())
}

fn mcp_server(server: &McpServer<String>) -> Value {
    match server {
        McpServer::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            let mut settings =
                json!({ "command": command, "args": args, "env": document::object(env) });
            if let Some(cwd) = cwd {
                settings["cwd"] = json!(cwd);
            }
            settings
        }
        McpServer::Remote {
            url,
            headers,
            transport: RemoteTransport::Http,
        } => {
            json!({ "httpUrl": url, "headers": document::object(headers) })
        }
        McpServer::Remote {
            url,
            headers,
            transport: RemoteTransport::Sse,
        } => {
            json!({ "url": url, "headers": document::object(headers) })
        }
    }
}

#[cfg(test)]
mod tests;
