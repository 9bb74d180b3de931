//! `claude-code`: Anthropic's Claude Code, driven headlessly with `-p --output-format stream-json`.
//!
//! Three facts shape this adapter: instructions are read from every directory up to `/`, a failed request ends with `"subtype":"success"`, and the exact number of requests, like all
//! figures of a session that was killed, is only in its own transcripts.

mod stream;

use super::prelude::*;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "claude-code",
        aliases: &["claude"],
        program: Some("claude"),
        tested_version: "2.1.325",
        known_settings: include_str!("settings.json"),
        oldest_version: "2.1.197",
        package: Some(Package::Npm("@anthropic-ai/claude-code")),
        rules_file: "CLAUDE.md",
        skills_dir: ".claude/skills",
        skill_tool: Some("Skill"),
        skippable: &[(r#"{"type":"user""#, Skippable::Output)],
        read_above: &["CLAUDE.md", "CLAUDE.local.md", ".claude", ".mcp.json"],
        credential_variables: &[
            "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        setting_variables: &["ANTHROPIC_BASE_URL"],
        credential_files: &[".claude/.credentials.json"],
        services: &[ModelService::new(
            &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
            "ANTHROPIC_BASE_URL",
            usual::ANTHROPIC,
        )],
        // A harder signal leaves the shells of its tools behind, and no result.
        stop_signal: Signal::Interrupt,
        hosts: &["claude.ai", "console.anthropic.com", "platform.claude.com"],
        options: OptionWays {
            effort: Some(Way::Flag("--effort")),
            max_turns: Some(Way::Flag("--max-turns")),
            system_prompt: Some(Way::Flag("--append-system-prompt")),
            disallowed_tools: Some(Way::Flag("--disallowedTools")),
            ..OptionWays::NONE
        },
        ..Profile::USUAL
    },
    invocation,
    protocol: |_| Box::new(stream::ClaudeStream::default()),
};

/// The number of times that a failed request is tried again. The default of 10 takes three minutes, even for a refused
/// key.
const RETRIES: &str = "3";
/// The time that an MCP server has to connect. By default the session starts without it after two seconds.
const MCP_MILLISECONDS: &str = "30000";

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let home = inputs.agent_home.join(".claude");
    let settings = PlacedFile::json(&home, "settings.json", &inputs.with_config(json!({})));
    let servers = inputs.mcp_file(&home, "mcp.json", |server| {
        // Its own `cwd` is silently ignored.
        let server = server.with_cwd_wrapped();
        server.typed_settings(["stdio", "http", "sse"])
    });
    let mut args = vec![
        "-p",
        "--output-format",
        "stream-json",
        // Without it `stream-json` is refused.
        "--verbose",
        "--dangerously-skip-permissions",
        // The workspace's own settings, and neither the user's nor anybody's local ones.
        "--setting-sources",
        "project",
        "--settings",
        settings.path.as_str(),
        // No `.mcp.json` of a directory above.
        "--strict-mcp-config",
    ];
    args.extend(inputs.model_option("--model"));
    let mut env = vec![
        // No telemetry, and no call for a title, which would be counted and paid for.
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // A memory of earlier sessions is not part of what is tested.
        ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", RETRIES),
    ];
    if let Some(file) = &servers {
        // It takes every argument that follows for one more file, so this one comes last.
        args.extend(["--mcp-config", file.path.as_str()]);
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
    let started = Invocation::program("claude", &args, &env);
    Invocation {
        stdin: Stdin::no_command(inputs.prompt),
        side_files: vec![SideFile::new(
            home.join("projects"),
            "**/*.jsonl",
            "session.jsonl",
        )],
        files: [settings].into_iter().chain(servers).collect(),
        ..started
    }
}

#[cfg(test)]
mod tests;
