//! `qwen-code`: Qwen Code, driven headlessly with `-o stream-json`.
//!
//! Verified against 0.24.4. It has Gemini CLI's settings and Claude Code's stream. Three facts shape this file:
//! a prompt that begins with `/` would run a command, a limit that is reached shows only as exit status 53 or
//! 55, and the number of model requests stands in the session file.

mod errors;
mod stream;
mod wire;

use serde_json::{Value, json};

use self::stream::Stream;
use super::gemini_cli::mcp_settings;
use super::{
    Agent, Capabilities, Decoder, Inputs, Invocation, Launch, PlacedFile, Profile, SideFile, Stdin,
    StopSignal,
};
use crate::text::json as document;

#[derive(Debug)]
pub(super) struct QwenCode;

static PROFILE: Profile = Profile {
    name: "qwen-code",
    aliases: &["qwen"],
    program: Some("qwen"),
    version_args: &["--version"],
    install: "npm install -g @qwen-code/qwen-code",
    takes_command: false,
    streams_events: true,
    // It reads AGENTS.md as well, so what the workspace has there stays in force.
    rules_file: "QWEN.md",
    credential_variables: &["OPENAI_API_KEY"],
    setting_variables: &["OPENAI_BASE_URL"],
    credential_files: &[],
    skills_dir: ".qwen/skills",
    proved_with: "0.24.4",
    stop_signal: StopSignal::Terminate,
    capabilities: Capabilities::ALL,
};

/// How often the client tries a failed request again, within each of the seven rounds that it makes anyway.
const RETRIES: u32 = 0;
/// How long an MCP server may take to connect. The default is five seconds for one that is not local.
const MCP_MILLISECONDS: u32 = 30_000;

impl Agent for QwenCode {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let home = inputs.agent_home.join(".qwen");
        let mut env = vec![
            ("QWEN_HOME", home.as_str()),
            ("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1"),
            // Also for a `config` that makes it ignore its settings.
            ("QWEN_USAGE_STATISTICS_ENABLED", "false"),
            ("NO_COLOR", "1"),
        ];
        if let Some(model) = inputs.model {
            // A variable wins over an `.env` file in the workspace.
            env.push(("OPENAI_MODEL", model));
        }
        Invocation {
            launch: Launch::Program {
                program: "qwen".into(),
                args: ["--yolo", "--output-format", "stream-json"]
                    .map(str::to_owned)
                    .into(),
            },
            env: env
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            stdin: stdin(inputs.prompt),
            files: vec![PlacedFile {
                path: home.join("settings.json"),
                content: format!("{:#}\n", settings(inputs)),
                artifact: "settings.json",
            }],
            side_files: vec![SideFile {
                dir: home.join("projects"),
                glob: "*/chats/*.jsonl",
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

/// A prompt that begins with `/` would run a command of that name; an empty line in front prevents it.
fn stdin(prompt: &str) -> Stdin {
    if prompt.starts_with('/') {
        Stdin::Text(format!("\n{prompt}"))
    } else {
        Stdin::Prompt
    }
}

/// Our settings, with the user's `config` laid over them.
fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({
        "privacy": { "usageStatisticsEnabled": false },
        "general": { "enableAutoUpdate": false },
        // It would ask the model what to remember after the last answer, and count that as the session's.
        "memory": { "enableManagedAutoMemory": false, "enableManagedAutoDream": false },
        "model": { "generationConfig": { "maxRetries": RETRIES } },
    });
    if !inputs.mcp_servers.is_empty() {
        settings["mcpServers"] =
            mcp_settings(inputs.mcp_servers, "discoveryTimeoutMs", MCP_MILLISECONDS);
    }
    if let Some(config) = inputs.config {
        document::merge(&mut settings, config);
    }
    settings
}

#[cfg(test)]
mod tests;
