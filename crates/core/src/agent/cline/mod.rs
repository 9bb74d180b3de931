//! `cline`, driven headlessly with `--json`.
//!
//! Four facts shape this adapter: a prompt is read from standard input only where that is a pipe (of a file it may see
//! nothing) and there is another among the arguments; a hub is left running unless it is told to do without; the
//! figures of a session leave its sub-agents out, those of single requests do not; and
//! the status with which a service refused is only in its log.

mod stream;

use super::prelude::*;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "cline",
        program: Some("cline"),
        tested_version: "3.0.65",
        package: Some(Package::Npm("cline")),
        skills_dir: ".cline/skills",
        offers_skill_names: true,
        credential_variables: &[
            "CLINE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY",
            "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY",
            "XAI_API_KEY", "CEREBRAS_API_KEY", "AI_GATEWAY_API_KEY",
        ],
        credential_files: &[".cline/data/settings/providers.json"],
        files_yield: FilesYield::ByProvider(&["CLINE_API_KEY"]),
        // While a tool runs it heeds no signal, and is killed after the time that it is given.
        hosts: &["api.cline.bot"],
        telemetry_hosts: &["data.cline.bot", "otel.cline.bot"],
        ..Profile::USUAL
    },
    invocation,
    protocol: |_| Box::new(stream::ClineStream::default()),
};

/// The log, which says more than the stream.
const LOG: &str = "cline.log";

/// The time that an MCP server has for an answer, its first and any other. Without it the first must come within three
/// seconds, which is short for a server started by `npx`; any other has this time by default.
const MCP_SECONDS: u32 = 60;

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let mut args = vec!["--json".to_owned(), "--auto-approve true".to_owned()];
    args.extend(inputs.model.into_iter().flat_map(model_arguments));
    // The two prompts are joined and a blank goes away, so that the prompt arrives as it was written, with any length
    // and any beginning.
    args.push("' '".to_owned());
    let data = inputs.agent_home.join(".cline/data");
    let program = inputs.program.map_or("cline".to_owned(), quoted);
    let env = [
        // Otherwise it leaves a daemon behind.
        ("CLINE_SESSION_BACKEND_MODE", "local"),
        ("CLINE_NO_AUTO_UPDATE", "1"),
    ];
    let command = format!("cat | {program} {}", args.join(" "));
    Invocation {
        files: settings_files(inputs),
        side_files: vec![SideFile::new(data.join("logs"), LOG, LOG)],
        ..Invocation::of(Launch::Shell(command), &env)
    }
}

/// Returns the arguments for `provider/name`; without a provider, the one that was signed in to last is used.
fn model_arguments(model: &str) -> Vec<String> {
    let (provider, name) = model.split_once('/').unwrap_or(("", model));
    let mut args = Vec::new();
    if !provider.is_empty() {
        args.extend(["--provider".to_owned(), quoted(provider)]);
    }
    args.extend(["--model".to_owned(), quoted(name)]);
    args
}

/// Quotes a text for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns its settings, which are three files: general ones, providers and MCP servers. The user's `config` is merged
/// into the first, except its `providers`, which are the second.
fn settings_files(inputs: &Inputs<'_>) -> Vec<PlacedFile> {
    let dir = inputs.agent_home.join(".cline/data/settings");
    let general = json!({ "telemetryOptOut": true, "autoUpdateEnabled": false });
    let mut general = inputs.with_config(general);
    let providers = general
        .as_object_mut()
        .and_then(|general| general.remove("providers"));
    let mut files = vec![PlacedFile::json(&dir, "global-settings.json", &general)];
    if let Some(Value::Object(providers)) = providers {
        let settings = provider_settings(providers);
        files.push(PlacedFile::json(&dir, "providers.json", &settings));
    }
    files.extend(inputs.mcp_file(&dir, "cline_mcp_settings.json", |server| {
        let mut settings = server.typed_settings(["stdio", "streamableHttp", "sse"]);
        settings["timeout"] = json!(MCP_SECONDS);
        settings
    }));
    files
}

/// Returns the settings of providers as `cline auth` writes them.
fn provider_settings(providers: Map<String, Value>) -> Value {
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

#[cfg(test)]
mod tests;
