//! `claude-code`: Anthropic's Claude Code, driven headlessly with `-p --output-format stream-json`.
//!
//! Three facts shape this adapter: instructions are read from every directory up to `/`, a failed request ends with `"subtype":"success"`, and the exact number of requests, like all
//! figures of a session that was killed, is only in its own transcripts.

mod stream;
mod wire;

use camino::Utf8Path;
use serde_json::{Value, json};

use super::invocation::variables;
use super::model_service::{ModelService, usual};
use super::{
    Agent, Inputs, Invocation, Launch, Package, PlacedFile, Profile, SideFile, Stdin, StopSignal,
    mcp,
};

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "claude-code",
        aliases: &["claude"],
        program: Some("claude"),
        tested_version: "2.1.325",
        oldest_version: "2.1.197",
        package: Some(Package::Npm("@anthropic-ai/claude-code")),
        rules_file: "CLAUDE.md",
        skills_dir: ".claude/skills",
        read_above: &["CLAUDE.md", "CLAUDE.local.md", ".claude", ".mcp.json"],
        credential_variables: &[
            "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        setting_variables: &["ANTHROPIC_BASE_URL"],
        credential_files: &[".claude/.credentials.json"],
        services: &[ModelService::by_variable(
            &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
            "ANTHROPIC_BASE_URL",
            usual::ANTHROPIC,
        )],
        // A harder signal leaves the shells of its tools behind, and no result.
        stop_signal: StopSignal::Interrupt,
        hosts: &["claude.ai", "console.anthropic.com", "platform.claude.com"],
        ..Profile::USUAL
    },
    invocation,
    decoder: stream::decoder,
};

/// The number of times that a failed request is tried again. The default of 10 takes three minutes, even for a refused
/// key.
const RETRIES: &str = "3";
/// The time that an MCP server has to connect. By default the session starts without it after two seconds.
const MCP_MILLISECONDS: &str = "30000";

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let home = inputs.agent_home.join(".claude");
    let settings_file = home.join("settings.json");
    let mcp_file = home.join("mcp.json");
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
    let settings = json!({ "claudeMdExcludes": instructions_above(inputs.workspace) });
    let settings = inputs.with_config(settings);
    let mut files = vec![PlacedFile::json(&home, "settings.json", &settings)];
    if !inputs.mcp_servers.is_empty() {
        // It takes every argument that follows for one more file, so this one comes last.
        args.extend(["--mcp-config", mcp_file.as_str()]);
        files.push(PlacedFile::json(&home, "mcp.json", &mcp_settings(inputs)));
    }
    Invocation {
        launch: Launch::program("claude", &args),
        env: environment(inputs),
        stdin: stdin(inputs.prompt),
        files,
        side_files: vec![SideFile {
            dir: home.join("projects"),
            glob: "**/*.jsonl",
            label: "session.jsonl",
        }],
    }
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
    variables(&env)
}

/// A prompt that begins with `/` would be taken for a command, and never reach the model.
fn stdin(prompt: &str) -> Stdin {
    if prompt.trim_start().starts_with('/') {
        Stdin::Text(format!("\n{prompt}"))
    } else {
        Stdin::Prompt
    }
}

/// Returns the instructions of all directories above the workspace, which would otherwise be read up to `/`.
fn instructions_above(workspace: &Utf8Path) -> Vec<String> {
    let names = ["CLAUDE.md", "CLAUDE.local.md", ".claude/**"];
    workspace
        .ancestors()
        .skip(1)
        .flat_map(|dir| names.map(|name| dir.join(name).into_string()))
        .collect()
}

fn mcp_settings(inputs: &Inputs<'_>) -> Value {
    let servers = mcp::settings_by_name(inputs.mcp_servers, |server| {
        // Its own `cwd` is silently ignored.
        let server = server.with_cwd_wrapped();
        server.typed_settings(["stdio", "http", "sse"])
    });
    json!({ "mcpServers": servers })
}

#[cfg(test)]
mod tests;
