//! The variables of agents that ask models through litellm.

use super::model_service::{ModelService, usual};

/// The keys of the services that it knows by default.
pub(super) const CREDENTIAL_VARIABLES: &[&str] = &[
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY",
    "DEEPSEEK_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY", "AZURE_API_KEY",
];

/// Other addresses of the services.
pub(super) const SETTING_VARIABLES: &[&str] = &[
    "OPENAI_API_BASE", "ANTHROPIC_API_BASE", "AZURE_API_BASE", "AZURE_API_VERSION",
    "OLLAMA_API_BASE",
];

/// The services whose addresses are known.
pub(super) const SERVICES: &[ModelService] = &[
    ModelService::new(&["OPENAI_API_KEY"], "OPENAI_API_BASE", usual::OPENAI_V1),
    ModelService::new(
        &["ANTHROPIC_API_KEY"],
        "ANTHROPIC_API_BASE",
        usual::ANTHROPIC,
    ),
];
