//! `droid`: Factory's Droid, driven headlessly with `exec --output-format stream-json`.
//!
//! Verified against 0.225.2. Four facts shape this file: tokens are given once, in the event of its end; MCP servers
//! are waited for only when their tools are named, and what became of them stands in the log; a model of one's own is
//! called `custom:NAME-INDEX` after its place in the settings; and no signal ends it at once: it ends its tools, asks
//! the model once more and completes as if nothing had happened.

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
pub(super) struct Droid;

static PROFILE: Profile = Profile {
    name: "droid",
    aliases: &[],
    program: Some("droid"),
    version_args: &["--version"],
    install: "npm install -g @factory/cli",
    takes_command: false,
    streams_events: true,
    rules_file: "AGENTS.md",
    credential_variables: &["FACTORY_API_KEY"],
    setting_variables: &[],
    credential_files: &[],
    skills_dir: ".factory/skills",
    proved_with: "0.225.2",
    stop_signal: StopSignal::Terminate,
    capabilities: Capabilities::ALL,
};

/// What the decoder knows the log by.
const LOG: &str = "droid.log";

impl Agent for Droid {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let mut args: Vec<String> = [
            "exec",
            "--skip-permissions-unsafe",
            "--output-format",
            "stream-json",
        ]
        .map(str::to_owned)
        .into();
        if let Some(model) = inputs.model {
            args.extend(["--model".to_owned(), model.to_owned()]);
        }
        if !inputs.mcp_servers.is_empty() {
            let named = inputs
                .mcp_servers
                .iter()
                .map(|(name, _)| format!("MCP:{}", percent_encoded(name)));
            args.extend([
                "--add-tools".to_owned(),
                named.collect::<Vec<_>>().join(","),
            ]);
        }
        let env = [
            ("FACTORY_DISABLE_KEYRING", "1"),
            ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false"),
            ("FACTORY_OTEL_ENABLED", "false"),
        ];
        let home = inputs.agent_home.join(".factory");
        let placed = |name: &'static str, content: &Value| PlacedFile {
            path: home.join(name),
            content: format!("{content:#}\n"),
            artifact: name,
        };
        let mut files = vec![placed("settings.json", &settings(inputs))];
        if !inputs.mcp_servers.is_empty() {
            let servers = inputs
                .mcp_servers
                .iter()
                .map(|(name, server)| (name.clone(), mcp_settings(server)));
            let servers = Value::Object(servers.collect());
            files.push(placed("mcp.json", &json!({ "mcpServers": servers })));
        }
        Invocation {
            launch: Launch::Program {
                program: "droid".into(),
                args,
            },
            env: env
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            stdin: Stdin::Prompt,
            files,
            side_files: vec![SideFile {
                dir: home.join("logs"),
                glob: "droid-log-*.log",
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
fn settings(inputs: &Inputs<'_>) -> Value {
    // Sessions would be sent to where they can be seen in a browser.
    let mut settings = json!({ "cloudSessionSync": false });
    if let Some(config) = inputs.config {
        document::merge(&mut settings, config);
    }
    settings
}

fn mcp_settings(server: &McpServer<String>) -> Value {
    let mut settings = match server.with_cwd_wrapped() {
        McpServer::Stdio {
            command, args, env, ..
        } => {
            json!({ "type": "stdio", "command": command, "args": args, "env": document::object(&env) })
        }
        McpServer::Remote {
            url,
            headers,
            transport,
        } => {
            let transport = match transport {
                RemoteTransport::Http => "http",
                RemoteTransport::Sse => "sse",
            };
            json!({ "type": transport, "url": url, "headers": document::object(&headers) })
        }
    };
    settings["disabled"] = json!(false);
    settings
}

/// For the selector of a server's tools, which has a meaning for `,` and `/`.
fn percent_encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    name.bytes()
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
