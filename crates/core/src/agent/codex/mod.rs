//! `codex`: OpenAI's Codex CLI, driven headlessly with `codex exec --json`.
//!
//! Three facts shape this adapter: its stream names no model and has the figures of the main thread only (all of them
//! are in the rollout files it keeps), a broken MCP server goes unmentioned unless it is required, and a lost
//! connection is tried again for ever unless that is switched off.

mod stream;

use super::prelude::*;

use crate::text::json as document;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "codex",
        program: Some("codex"),
        tested_version: "0.166.0",
        known_settings: include_str!("settings.json"),
        package: Some(Package::Npm("@openai/codex")),
        skills_dir: ".agents/skills",
        read_above: &["AGENTS.md", ".codex", ".agents"],
        credential_variables: &["CODEX_API_KEY", "OPENAI_API_KEY"],
        credential_files: &[".codex/auth.json"],
        services: &[ModelService {
            // The built-in provider would try a WebSocket first.
            given_as: Some("OPENAI_API_KEY"),
            unless: &["model_provider"],
            ..ModelService::new(
                &["CODEX_API_KEY", "OPENAI_API_KEY"],
                "/model_providers/openai-key/base_url",
                usual::OPENAI_V1,
            )
        }],
        // It may be a login with ChatGPT, which a key would turn into another bill.
        files_yield: FilesYield::To(&["CODEX_API_KEY"]),
        // A harder signal leaves the grandchildren of its tools behind.
        stop_signal: Signal::Interrupt,
        hosts: &["auth.openai.com", "chatgpt.com"],
        options: OptionWays {
            effort: Some(Way::Setting("model_reasoning_effort")),
            system_prompt: Some(Way::Setting("developer_instructions")),
            ..OptionWays::NONE
        },
        ..Profile::USUAL
    },
    invocation,
    protocol: |_| Box::new(stream::CodexStream::default()),
};

/// The number of times that a failed request, and a stream that broke off, are tried again. They multiply; by default
/// to 30.
const RETRIES: u32 = 2;
/// The time that an MCP server has to start.
const MCP_SECONDS: u32 = 30;
/// The most that it reads of the rules: more than any model can be given.
const RULES_BYTES: u64 = 64 * 1024 * 1024;
/// The provider that signs in with `OPENAI_API_KEY`, which the built-in one does not read.
const KEY_PROVIDER: &str = "openai-key";

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let codex_home = inputs.agent_home.join(".codex");
    let mut args = vec![
        "exec",
        "--json",
        // A setting that it does not know is an error, not a warning that nobody reads.
        "--strict-config",
        "--skip-git-repo-check",
        // By default it may only read.
        "--dangerously-bypass-approvals-and-sandbox",
        "-C",
        inputs.workspace.as_str(),
    ];
    args.extend(inputs.model_option("-m"));
    // The prompt comes by standard input.
    args.push("-");
    let env = [("CODEX_HOME", codex_home.as_str())];
    Invocation {
        files: vec![PlacedFile {
            path: codex_home.join("config.toml"),
            content: document::toml(&settings(inputs)),
            artifact: "config.toml",
        }],
        side_files: vec![SideFile::new(
            codex_home.join("sessions"),
            "**/rollout-*.jsonl",
            "rollout.jsonl",
        )],
        ..Invocation::program("codex", &args, &env)
    }
}

fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({
        "approval_policy": "never",
        "sandbox_mode": "danger-full-access",
        "check_for_update_on_startup": false,
        // A login shell would set `PATH` anew.
        "allow_login_shell": false,
        // Nothing from the directories above reaches the agent.
        "project_root_markers": [],
        // By default it reads 32 KiB of the rules and says nothing of the rest.
        "project_doc_max_bytes": RULES_BYTES,
        "analytics": { "enabled": false },
        "features": { "plugins": false, "apps": false, "unbounded_connection_retries": false },
    });
    if needs_key_provider(inputs) {
        settings["model_provider"] = json!(KEY_PROVIDER);
        settings["model_providers"] = json!({ KEY_PROVIDER: {
            "name": "OpenAI",
            "base_url": usual::OPENAI_V1,
            "env_key": "OPENAI_API_KEY",
            "wire_api": "responses",
        } });
    }
    if !inputs.mcp_servers.is_empty() {
        settings["mcp_servers"] = mcp::settings_by_name(inputs.mcp_servers, mcp_settings);
    }
    let mut settings = inputs.with_config(settings);
    limit_retries(&mut settings);
    settings
}

fn needs_key_provider(inputs: &Inputs<'_>) -> bool {
    let names_provider = inputs
        .config
        .is_some_and(|config| config.get("model_provider").is_some());
    inputs.variables.contains("OPENAI_API_KEY")
        && !inputs.variables.contains("CODEX_API_KEY")
        && !names_provider
}

/// Gives every provider a limit that has none. The built-in one has its own, and takes no other.
fn limit_retries(settings: &mut Value) {
    let Some(Value::Object(providers)) = settings.get_mut("model_providers") else {
        return;
    };
    for provider in providers.values_mut().filter_map(Value::as_object_mut) {
        for limit in ["request_max_retries", "stream_max_retries"] {
            provider.entry(limit).or_insert_with(|| json!(RETRIES));
        }
    }
}

fn mcp_settings(server: &McpServer<String>) -> Value {
    let mut settings = match server {
        McpServer::Stdio { .. } => server.program_settings(),
        McpServer::Remote { url, headers, .. } => {
            json!({ "url": url, "http_headers": object(headers) })
        }
    };
    // Otherwise the session starts without it when it is slow or broken, and says nothing.
    settings["required"] = json!(true);
    settings["startup_timeout_sec"] = json!(MCP_SECONDS);
    settings
}

#[cfg(test)]
mod tests;
