//! `kilo`: Kilo Code's command line, made from opencode and driven like it.
//!
//! Only the names differ, and what it would send to its makers.

use super::opencode;
use super::opencode::Flavour;
use super::opencode::OpencodeStream;
use super::prelude::*;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "kilo",
        program: Some("kilo"),
        tested_version: "7.7.9",
        package: Some(Package::Npm("@kilocode/cli")),
        logs_to_stderr: true,
        skills_dir: ".kilo/skills",
        skill_tool: Some("skill"),
        read_above: &["AGENTS.md", "kilo.json", "kilo.jsonc", ".kilo", ".kilocode"],
        credential_variables: &[
            "KILO_API_KEY", "KILO_AUTH_CONTENT", "ANTHROPIC_API_KEY", "OPENAI_API_KEY",
            "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY",
            "DEEPSEEK_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY",
        ],
        setting_variables: &["KILO_ORG_ID"],
        credential_files: &[".local/share/kilo/auth.json"],
        services: opencode::SERVICES,
        files_yield: FilesYield::ByProvider(&[]),
        hosts: &["api.kilo.ai", "models.dev"],
        ..Profile::USUAL
    },
    invocation: |inputs| FLAVOUR.invocation(inputs),
    protocol: |_| Box::new(OpencodeStream::default()),
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
