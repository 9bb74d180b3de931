//! `kilo`: Kilo Code's command line, made from opencode and driven like it.
//!
//! Verified against 7.7.7. Only the names differ, and what it would tell its makers.

use super::opencode::{self, Flavour};
use super::{
    Agent, Capabilities, CredentialFile, Decoder, Inputs, Invocation, Profile, StopSignal,
};

#[derive(Debug)]
pub(super) struct Kilo;

static PROFILE: Profile = Profile {
    name: "kilo",
    aliases: &[],
    program: Some("kilo"),
    version_args: &["--version"],
    install: "npm install -g @kilocode/cli",
    takes_command: false,
    streams_events: true,
    rules_file: "AGENTS.md",
    credential_variables: &[
        "KILO_API_KEY",
        "KILO_AUTH_CONTENT",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "OPENROUTER_API_KEY",
        "DEEPSEEK_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "XAI_API_KEY",
    ],
    setting_variables: &["KILO_ORG_ID"],
    credential_files: &[CredentialFile {
        from: ".local/share/kilo/auth.json",
        to: ".local/share/kilo/auth.json",
    }],
    skills_dir: ".kilo/skills",
    proved_with: "7.7.7",
    // Any signal ends it at once, without a last event.
    stop_signal: StopSignal::Terminate,
    capabilities: Capabilities::ALL,
};

static FLAVOUR: Flavour = Flavour {
    program: "kilo",
    prefix: "KILO",
    artifact: "kilo.json",
    env: &[
        ("TELEMETRY_LEVEL", "off"),
        // Sessions would be sent to where they can be shared.
        ("DISABLE_SESSION_INGEST", "1"),
        ("DISABLE_SHARE", "1"),
        ("NO_DAEMON", "1"),
    ],
    schema: "https://app.kilo.ai/config.json",
};

impl Agent for Kilo {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        FLAVOUR.invocation(inputs)
    }

    fn decoder(&self, inputs: &Inputs<'_>) -> Box<dyn Decoder> {
        opencode::decoder(inputs)
    }
}

#[cfg(test)]
mod tests;
