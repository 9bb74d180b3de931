//! `claude-code`: Anthropic's Claude Code, driven headlessly with `-p --output-format stream-json`.
//!
//! Verified against 2.1.197. Four facts shape this file: instructions are read from every directory up to `/`,
//! a broken MCP server shows only in the first event, a failed request ends with `"subtype":"success"`, and the
//! exact number of requests, like all figures of a session that was killed, stands only in its own transcripts.

mod ending;
mod errors;
mod figures;
mod stream;
mod wire;

use camino::Utf8Path;
use serde_json::{Value, json};

use self::stream::Stream;
use super::{
    Agent, Capabilities, CredentialFile, Decoder, Inputs, Invocation, Launch, PlacedFile, Profile,
    SideFile, Stdin, StopSignal,
};
use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::text::json as document;

#[derive(Debug)]
pub(super) struct ClaudeCode;

static PROFILE: Profile = Profile {
    name: "claude-code",
    aliases: &["claude"],
    program: Some("claude"),
    version_args: &["--version"],
    install: "npm install -g @anthropic-ai/claude-code",
    takes_command: false,
    streams_events: true,
    rules_file: "CLAUDE.md",
    credential_variables: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
    ],
    setting_variables: &["ANTHROPIC_BASE_URL"],
    credential_files: &[CredentialFile {
        from: ".claude/.credentials.json",
        to: ".claude/.credentials.json",
    }],
    skills_dir: ".claude/skills",
    proved_with: "2.1.197",
    // Anything harder leaves the shells of its tools behind, and no result.
    stop_signal: StopSignal::Interrupt,
    capabilities: Capabilities::ALL,
};

/// How often a failed request is tried again. The default of 10 takes three minutes, even for a refused key.
const RETRIES: &str = "3";
/// How long an MCP server may take to connect. By default the session starts without it after two seconds.
const MCP_MILLISECONDS: &str = "30000";

impl Agent for ClaudeCode {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let settings_file = inputs.agent_home.join(".claude/settings.json");
        let mcp_file = inputs.agent_home.join(".claude/mcp.json");
        let mut args = arguments(inputs, &settings_file);
        let mut files = vec![PlacedFile {
            path: settings_file,
            content: format!("{:#}\n", settings(inputs)),
            artifact: "settings.json",
        }];
        if !inputs.mcp_servers.is_empty() {
            // It takes every argument that follows for one more file, so it stands last.
            args.extend(["--mcp-config".to_owned(), mcp_file.to_string()]);
            files.push(PlacedFile {
                path: mcp_file,
                content: format!("{:#}\n", mcp_settings(inputs.mcp_servers)),
                artifact: "mcp.json",
            });
        }
        Invocation {
            launch: Launch::Program {
                program: "claude".into(),
                args,
            },
            env: environment(inputs),
            stdin: stdin(inputs.prompt),
            files,
            side_files: vec![SideFile {
                dir: inputs.agent_home.join(".claude/projects"),
                glob: "**/*.jsonl",
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

fn arguments(inputs: &Inputs<'_>, settings_file: &Utf8Path) -> Vec<String> {
    let mut args = vec![
        "-p",
        "--output-format",
        "stream-json",
        // Without it `stream-json` is refused.
        "--verbose",
        "--dangerously-skip-permissions",
        "--session-id",
        inputs.session_id,
        // The workspace's own settings, and neither the user's nor anybody's local ones.
        "--setting-sources",
        "project",
        "--settings",
        settings_file.as_str(),
        // No `.mcp.json` of a directory above.
        "--strict-mcp-config",
    ];
    if let Some(model) = inputs.model {
        args.extend(["--model", model]);
    }
    args.into_iter().map(str::to_owned).collect()
}

fn environment(inputs: &Inputs<'_>) -> Vec<(String, String)> {
    let mut env = vec![
        // No telemetry, and no call for a title, which would be counted and paid for.
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // A memory of earlier sessions is not part of what is tested.
        ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", RETRIES),
    ];
    if !inputs.mcp_servers.is_empty() {
        env.extend([
            ("MCP_CONNECTION_NONBLOCKING", "0"),
            ("MCP_CONNECT_TIMEOUT_MS", MCP_MILLISECONDS),
            ("MCP_TIMEOUT", MCP_MILLISECONDS),
        ]);
    }
    if inputs.superuser {
        // Otherwise it refuses to skip permissions.
        env.push(("IS_SANDBOX", "1"));
    }
    env.into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// A prompt that begins with `/` would be taken for a command, and never reach the model.
fn stdin(prompt: &str) -> Stdin {
    if prompt.trim_start().starts_with('/') {
        Stdin::Text(format!("\n{prompt}"))
    } else {
        Stdin::Prompt
    }
}

/// Our settings, with the user's `config` laid over them.
fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({ "claudeMdExcludes": instructions_above(inputs.workspace) });
    if let Some(config) = inputs.config {
        document::merge(&mut settings, config);
    }
    settings
}

/// The instructions of all directories above the workspace, which would otherwise be read up to `/`.
fn instructions_above(workspace: &Utf8Path) -> Vec<String> {
    let names = ["CLAUDE.md", "CLAUDE.local.md", ".claude/**"];
    workspace
        .ancestors()
        .skip(1)
        .flat_map(|dir| names.map(|name| dir.join(name).into_string()))
        .collect()
}

fn mcp_settings(servers: &[(String, McpServer<String>)]) -> Value {
    let servers = servers
        .iter()
        .map(|(name, server)| (name.clone(), server_settings(server)));
    json!({ "mcpServers": servers.collect::<serde_json::Map<_, _>>() })
}

fn server_settings(server: &McpServer<String>) -> Value {
    let map = |pairs: &[(String, String)]| -> Value {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    // Its own `cwd` is silently ignored.
    match &server.with_cwd_wrapped() {
        McpServer::Stdio {
            command, args, env, ..
        } => {
            json!({ "type": "stdio", "command": command, "args": args, "env": map(env) })
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
            json!({ "type": kind, "url": url, "headers": map(headers) })
        }
    }
}

#[cfg(test)]
mod tests;
