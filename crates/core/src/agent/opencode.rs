//! `opencode`, driven headlessly with `run --format json`.
//!
//! Verified against 1.18.33. Three facts shape this file: the stream has no event for its end (the last step's
//! reason and exit status 0 together are it), tokens are given per step with cached input and reasoning apart,
//! and what became of an MCP server stands only in its log. The log file loses its last lines when the program
//! ends; on standard error they are all there.

mod errors;
mod log;
mod stream;
mod wire;

use serde_json::{Value, json};

use self::stream::Stream;
use super::{
    Agent, Capabilities, CredentialFile, Decoder, Inputs, Invocation, Launch, PlacedFile, Profile,
    Stdin, StopSignal,
};
use crate::agent::mcp::McpServer;
use crate::text::json as document;

#[derive(Debug)]
pub(super) struct OpenCode;

static PROFILE: Profile = Profile {
    name: "opencode",
    aliases: &[],
    program: Some("opencode"),
    version_args: &["--version"],
    install: "npm install -g opencode-ai",
    takes_command: false,
    streams_events: true,
    rules_file: "AGENTS.md",
    credential_variables: &[
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "OPENROUTER_API_KEY",
        "OPENCODE_API_KEY",
        "OPENCODE_AUTH_CONTENT",
        "DEEPSEEK_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "XAI_API_KEY",
    ],
    setting_variables: &[],
    credential_files: &[CredentialFile {
        from: ".local/share/opencode/auth.json",
        to: ".local/share/opencode/auth.json",
    }],
    skills_dir: ".opencode/skills",
    proved_with: "1.18.33",
    // Any signal ends it at once, without a last event.
    stop_signal: StopSignal::Terminate,
    capabilities: Capabilities::ALL,
};

/// How long an MCP server may take to answer. The default of five seconds is short for one started by `npx`.
const MCP_MILLISECONDS: u32 = 30_000;

impl Agent for OpenCode {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        FLAVOUR.invocation(inputs)
    }

    fn decoder(&self, inputs: &Inputs<'_>) -> Box<dyn Decoder> {
        decoder(inputs)
    }
}

/// What differs between opencode and the programs made from it. Their options, settings and streams are the same.
#[derive(Debug)]
pub(super) struct Flavour {
    pub(super) program: &'static str,
    /// How the names of its variables begin.
    pub(super) prefix: &'static str,
    /// The name of its settings in the artifacts.
    pub(super) artifact: &'static str,
    /// Variables of its own: their names without the prefix, and their values.
    pub(super) env: &'static [(&'static str, &'static str)],
    pub(super) schema: &'static str,
}

static FLAVOUR: Flavour = Flavour {
    program: "opencode",
    prefix: "OPENCODE",
    artifact: "opencode.json",
    env: &[],
    schema: "https://opencode.ai/config.json",
};

impl Flavour {
    pub(super) fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        // Without a title it asks the model for one.
        let mut args: Vec<String> = [
            "run",
            "--auto",
            "--format",
            "json",
            "--pure",
            "--thinking",
            "--title",
            "task",
            "--print-logs",
            "--log-level",
            "INFO",
        ]
        .map(str::to_owned)
        .into();
        if let Some(model) = inputs.model {
            args.extend(["--model".to_owned(), model.to_owned()]);
        }
        let settings_file = inputs
            .agent_home
            .join(".config")
            .join(self.program)
            .join("settings.json");
        let shared = [
            ("CONFIG", settings_file.as_str()),
            // The catalogue of models is built in; a newer one would change under a running suite.
            ("DISABLE_MODELS_FETCH", "1"),
            ("DISABLE_AUTOUPDATE", "1"),
        ];
        let env = shared.iter().chain(self.env);
        Invocation {
            launch: Launch::Program {
                program: self.program.into(),
                args,
            },
            env: env
                .map(|(name, value)| (format!("{}_{name}", self.prefix), (*value).to_owned()))
                .collect(),
            // A prompt among the arguments would be put in quotes; on standard input it arrives as written.
            stdin: Stdin::Prompt,
            files: vec![PlacedFile {
                path: settings_file,
                content: format!("{:#}\n", settings(self.schema, inputs)),
                artifact: self.artifact,
            }],
            side_files: Vec::new(),
        }
    }
}

pub(super) fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    Box::new(Stream::new(
        inputs
            .mcp_servers
            .iter()
            .map(|(name, _)| name.clone())
            .collect(),
    ))
}

/// Our settings, with the user's `config` laid over them.
fn settings(schema: &str, inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({
        "$schema": schema,
        "share": "disabled",
        "autoupdate": false,
    });
    if !inputs.mcp_servers.is_empty() {
        let servers = inputs
            .mcp_servers
            .iter()
            .map(|(name, server)| (name.clone(), mcp_settings(server)));
        settings["mcp"] = Value::Object(servers.collect());
    }
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
            let command: Vec<String> = std::iter::once(command).chain(args).collect();
            json!({ "type": "local", "command": command, "environment": document::object(&env) })
        }
        // It finds out by itself which of the two transports a server speaks.
        McpServer::Remote { url, headers, .. } => {
            json!({ "type": "remote", "url": url, "headers": document::object(&headers) })
        }
    };
    settings["enabled"] = json!(true);
    settings["timeout"] = json!(MCP_MILLISECONDS);
    settings
}

#[cfg(test)]
mod tests;
