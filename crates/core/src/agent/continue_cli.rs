//! `continue`: Continue's `cn`, driven headlessly with `-p`.
//!
//! Verified against 1.5.47. Four facts shape this file: models stand in a settings file, with their provider; what was used
//! and done stands in the session's file, a document that is written anew after every step; errors are one object on
//! standard error; and `--format json` would have the model answer in JSON, so that it is not used.

mod errors;
mod session;
mod wire;

use serde_json::{Value, json};

use self::session::Session;
use super::{
    Agent, Capabilities, Decoder, Inputs, Invocation, Launch, PlacedFile, Profile, SideFile, Stdin,
    StopSignal,
};
use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::text::json as document;

#[derive(Debug)]
pub(super) struct Continue;

static PROFILE: Profile = Profile {
    name: "continue",
    aliases: &["cn"],
    program: Some("cn"),
    version_args: &["--version"],
    install: "npm install -g @continuedev/cli",
    takes_command: false,
    streams_events: false,
    rules_file: "AGENTS.md",
    credential_variables: &[
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "OPENROUTER_API_KEY",
        "DEEPSEEK_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "XAI_API_KEY",
        "CONTINUE_API_KEY",
    ],
    setting_variables: &[],
    credential_files: &[],
    skills_dir: ".continue/skills",
    proved_with: "1.5.47",
    stop_signal: StopSignal::Terminate,
    capabilities: Capabilities::ALL,
};

const SESSION: &str = "session.json";

impl Agent for Continue {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let home = inputs.agent_home.join(".continue");
        let settings_file = home.join("config.yaml");
        // What follows `-p` may be taken for a prompt, and standard input is not read then.
        let args = ["--auto", "--config", settings_file.as_str(), "-p"];
        let env = [
            ("CONTINUE_GLOBAL_DIR", home.as_str()),
            ("CONTINUE_METRICS_ENABLED", "0"),
            // So that it does not.
            ("CONTINUE_CLI_AUTO_UPDATED", "true"),
            ("NO_COLOR", "1"),
        ];
        Invocation {
            launch: Launch::Program {
                program: "cn".into(),
                args: args.map(str::to_owned).into(),
            },
            env: env
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            stdin: Stdin::Prompt,
            side_files: vec![SideFile {
                dir: home.join("sessions"),
                // Beside them lies a list of them.
                glob: "*-*-*-*-*.json",
                label: SESSION,
            }],
            files: vec![PlacedFile {
                path: settings_file,
                content: document::yaml(&settings(inputs)),
                artifact: "config.yaml",
            }],
        }
    }

    fn decoder(&self, inputs: &Inputs<'_>) -> Box<dyn Decoder> {
        Box::new(Session::new(
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
    let mut settings = json!({ "name": "terca", "version": "1.0.0", "schema": "v1" });
    if !inputs.mcp_servers.is_empty() {
        let servers = inputs
            .mcp_servers
            .iter()
            .map(|(name, server)| mcp_settings(name, server));
        settings["mcpServers"] = servers.collect();
    }
    if let Some(config) = inputs.config {
        document::merge(&mut settings, config);
    }
    if let Some(model) = inputs.model {
        let others = settings["models"].take();
        let others = others.as_array().cloned().unwrap_or_default();
        settings["models"] = json!(models(model, others, inputs));
    }
    settings
}

/// The model asked for, as the first, which is the one that is used. What the user's settings say of it counts.
fn models(wanted: &str, mut others: Vec<Value>, inputs: &Inputs<'_>) -> Vec<Value> {
    let (provider, name) = wanted.split_once('/').unwrap_or(("openai", wanted));
    let described = others
        .iter()
        .position(|model| model["model"] == name || model["name"] == wanted);
    let mut model = json!({
        "name": wanted,
        "provider": provider,
        "model": name,
        "roles": ["chat"],
        "capabilities": ["tool_use"],
    });
    let key = format!("{}_API_KEY", provider.to_uppercase());
    if inputs.variables.contains(&key) {
        // It looks among the variables, and the key is not written down.
        model["apiKey"] = json!(format!("${{{{ secrets.{key} }}}}"));
    }
    if let Some(index) = described {
        document::merge(&mut model, &others.remove(index));
    }
    others.insert(0, model);
    others
}

fn mcp_settings(name: &str, server: &McpServer<String>) -> Value {
    let mut settings = match server.with_cwd_wrapped() {
        McpServer::Stdio {
            command, args, env, ..
        } => {
            json!({ "command": command, "args": args, "env": document::object(&env) })
        }
        McpServer::Remote {
            url,
            headers,
            transport,
        } => {
            let kind = match transport {
                RemoteTransport::Http => "streamable-http",
                RemoteTransport::Sse => "sse",
            };
            json!({ "type": kind, "url": url, "requestOptions": { "headers": document::object(&headers) } })
        }
    };
    settings["name"] = json!(name);
    settings
}

#[cfg(test)]
mod tests;
