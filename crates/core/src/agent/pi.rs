//! `pi`, driven headlessly with `--mode json`.
//!
//! Verified against 0.73.1, and its stream against 0.87.1, which has the package's new name. Three facts shape this
//! file: a service that fails shows as a message that ends in an error, with exit status 0; what a custom service
//! is stands in a settings file of its own; and the program reads rules in every directory up to the root, so that
//! there must be none above the workspace, which Terca sees to.

pub(super) mod errors;
mod stream;
mod wire;

use serde_json::{Value, json};

use self::stream::Stream;
use super::{
    Agent, Capabilities, CredentialFile, Decoder, Inputs, Invocation, Launch, PlacedFile, Profile,
    Stdin, StopSignal,
};
use crate::text::json as document;

#[derive(Debug)]
pub(super) struct Pi;

static PROFILE: Profile = Profile {
    name: "pi",
    aliases: &[],
    program: Some("pi"),
    version_args: &["--version"],
    install: "npm install -g @earendil-works/pi-coding-agent (with Node 20: @mariozechner/pi-coding-agent)",
    takes_command: false,
    streams_events: true,
    rules_file: "AGENTS.md",
    credential_variables: &[
        "ANTHROPIC_OAUTH_TOKEN",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "OPENROUTER_API_KEY",
        "DEEPSEEK_API_KEY",
        "GROQ_API_KEY",
        "CEREBRAS_API_KEY",
        "XAI_API_KEY",
        "ZAI_API_KEY",
        "MISTRAL_API_KEY",
        "MINIMAX_API_KEY",
        "MOONSHOT_API_KEY",
        "KIMI_API_KEY",
        "FIREWORKS_API_KEY",
        "AI_GATEWAY_API_KEY",
        "OPENCODE_API_KEY",
        "AZURE_OPENAI_API_KEY",
    ],
    setting_variables: &[
        "AZURE_OPENAI_BASE_URL",
        "AZURE_OPENAI_RESOURCE_NAME",
        "AZURE_OPENAI_API_VERSION",
        "AZURE_OPENAI_DEPLOYMENT_NAME_MAP",
    ],
    credential_files: &[CredentialFile {
        from: ".pi/agent/auth.json",
        to: ".pi/agent/auth.json",
    }],
    skills_dir: ".pi/skills",
    proved_with: "0.73.1",
    // It ends its tools, which an interrupt would leave behind.
    stop_signal: StopSignal::Terminate,
    // It has no MCP, by design.
    capabilities: Capabilities {
        mcp_servers: false,
        ..Capabilities::ALL
    },
};

impl Agent for Pi {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let mut args: Vec<String> = ["--print", "--mode", "json", "--no-session"]
            .map(str::to_owned)
            .into();
        if let Some(model) = inputs.model {
            args.extend(["--model".to_owned(), model.to_owned()]);
        }
        // Its own files are where they are by default: below the agent's home.
        let env = [
            // No check for a newer version, no download of tools.
            ("PI_OFFLINE", "1"),
            ("PI_TELEMETRY", "0"),
        ];
        Invocation {
            launch: Launch::Program {
                program: "pi".into(),
                args,
            },
            env: env
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            // Among the arguments `@` would be a file and `-` an option.
            stdin: Stdin::Prompt,
            files: files(inputs),
            side_files: Vec::new(),
        }
    }

    fn decoder(&self, _inputs: &Inputs<'_>) -> Box<dyn Decoder> {
        Box::new(Stream::default())
    }
}

/// Our settings with the user's `config` laid over them. Its `providers`, which say where models are, have a file of
/// their own and cannot be taken for a setting.
fn files(inputs: &Inputs<'_>) -> Vec<PlacedFile> {
    let mut settings = json!({ "enableInstallTelemetry": false });
    if let Some(config) = inputs.config {
        document::merge(&mut settings, config);
    }
    let providers = settings
        .as_object_mut()
        .and_then(|settings| settings.remove("providers"));
    let placed = |name: &'static str, content: &Value| PlacedFile {
        path: inputs.agent_home.join(".pi/agent").join(name),
        content: format!("{content:#}\n"),
        artifact: name,
    };
    let models =
        providers.map(|providers| placed("models.json", &json!({ "providers": providers })));
    std::iter::once(placed("settings.json", &settings))
        .chain(models)
        .collect()
}

#[cfg(test)]
mod tests;
