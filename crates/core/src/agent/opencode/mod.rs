//! `opencode`, driven headlessly with `run --format json`.
//!
//! Three facts shape this adapter: the stream has no event for its end (the last step's reason and exit status 0
//! together are it), tokens are given per step with cached input and reasoning apart, and requests that fail are only in
//! its log. The log file loses its last lines when the program ends; on standard error they are all there.

mod log;
mod stream;

use super::prelude::*;

pub(super) use stream::OpencodeStream;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "opencode",
        program: Some("opencode"),
        tested_version: "1.18.33",
        known_settings: include_str!("settings.json"),
        package: Some(Package::Npm("opencode-ai")),
        logs_to_stderr: true,
        skills_dir: ".opencode/skills",
        skill_tool: Some("skill"),
        read_above: &[
            "AGENTS.md", "CLAUDE.md", "opencode.json", "opencode.jsonc", ".opencode",
        ],
        credential_variables: &[
            "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY",
            "OPENCODE_AUTH_CONTENT", "DEEPSEEK_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY",
            "XAI_API_KEY",
        ],
        credential_files: &[".local/share/opencode/auth.json"],
        services: SERVICES,
        files_yield: FilesYield::ByProvider(&["OPENCODE_AUTH_CONTENT"]),
        hosts: &["models.dev", "opencode.ai"],
        options: OptionWays {
            effort: Some(Way::Flag("--variant")),
            temperature: Some(Way::Setting("agent.build.temperature")),
            ..OptionWays::NONE
        },
        ..Profile::USUAL
    },
    invocation: |inputs| FLAVOUR.invocation(inputs),
    protocol: |_| Box::new(OpencodeStream::default()),
};

/// The providers that it knows by themselves, with the addresses of their libraries.
pub(super) const SERVICES: &[ModelService] = &[
    ModelService::new(
        &["ANTHROPIC_API_KEY"],
        "/provider/anthropic/options/baseURL",
        "https://api.anthropic.com/v1",
    ),
    ModelService::new(
        &["OPENAI_API_KEY"],
        "/provider/openai/options/baseURL",
        usual::OPENAI_V1,
    ),
    ModelService::new(
        &["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
        "/provider/google/options/baseURL",
        "https://generativelanguage.googleapis.com/v1beta",
    ),
    ModelService::new(
        &["OPENROUTER_API_KEY"],
        "/provider/openrouter/options/baseURL",
        "https://openrouter.ai/api/v1",
    ),
    ModelService::new(
        &["DEEPSEEK_API_KEY"],
        "/provider/deepseek/options/baseURL",
        "https://api.deepseek.com",
    ),
    ModelService::new(
        &["GROQ_API_KEY"],
        "/provider/groq/options/baseURL",
        "https://api.groq.com/openai/v1",
    ),
    ModelService::new(
        &["MISTRAL_API_KEY"],
        "/provider/mistral/options/baseURL",
        "https://api.mistral.ai/v1",
    ),
    ModelService::new(
        &["XAI_API_KEY"],
        "/provider/xai/options/baseURL",
        "https://api.x.ai/v1",
    ),
];

/// The time that an MCP server has for an answer. The default of five seconds is short for one started by `npx`.
const MCP_MILLISECONDS: u32 = 30_000;

/// The differences between opencode and the programs made from it. Their options, settings and streams are the same.
#[derive(Debug)]
pub(super) struct Flavour {
    pub program: &'static str,
    /// The beginning of the names of its variables.
    pub prefix: &'static str,
    /// The name of its settings in the artifacts.
    pub artifact: &'static str,
    /// Variables of its own: their names without the prefix, and their values.
    pub env: &'static [(&'static str, &'static str)],
    pub schema: &'static str,
}

static FLAVOUR: Flavour = Flavour {
    program: "opencode",
    prefix: "OPENCODE",
    artifact: "opencode.json",
    env: &[],
    schema: "https://opencode.ai/config.json",
};

impl Flavour {
    /// Returns how to start the program.
    pub(super) fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let mut args = vec![
            "run", "--auto", "--format", "json", "--pure", "--thinking",
            // Without a title it asks the model for one.
            "--title", "task", "--print-logs", "--log-level", "INFO",
        ];
        args.extend(inputs.model_option("--model"));
        let settings_dir = inputs.agent_home.join(".config").join(self.program);
        let settings_file = settings_dir.join("settings.json");
        let shared = [
            ("CONFIG", settings_file.as_str()),
            // The catalogue of models is built in; a newer one would change under a running suite.
            ("DISABLE_MODELS_FETCH", "1"),
            ("DISABLE_AUTOUPDATE", "1"),
        ];
        let env = shared.iter().chain(self.env);
        let env = env.map(|(name, value)| (format!("{}_{name}", self.prefix), (*value).to_owned()));
        Invocation {
            env: env.collect(),
            files: vec![PlacedFile {
                artifact: self.artifact,
                ..PlacedFile::json(&settings_dir, "settings.json", &self.settings(inputs))
            }],
            // A prompt among the arguments would be put in quotes; on standard input it arrives as written.
            ..Invocation::program(self.program, &args, &[])
        }
    }

    fn settings(&self, inputs: &Inputs<'_>) -> Value {
        let mut settings = json!({
            "$schema": self.schema,
            "share": "disabled",
            "autoupdate": false,
        });
        if !inputs.mcp_servers.is_empty() {
            settings["mcp"] = mcp::settings_by_name(inputs.mcp_servers, mcp_settings);
        }
        inputs.with_config(settings)
    }
}

fn mcp_settings(server: &McpServer<String>) -> Value {
    let mut settings = match server.with_cwd_wrapped() {
        McpServer::Stdio {
            command, args, env, ..
        } => {
            let command: Vec<String> = std::iter::once(command).chain(args).collect();
            json!({ "type": "local", "command": command, "environment": object(&env) })
        }
        // It finds out by itself which of the two transports a server speaks.
        McpServer::Remote { url, headers, .. } => {
            json!({ "type": "remote", "url": url, "headers": object(&headers) })
        }
    };
    settings["enabled"] = json!(true);
    settings["timeout"] = json!(MCP_MILLISECONDS);
    settings
}

#[cfg(test)]
mod tests;
