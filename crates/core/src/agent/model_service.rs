//! The services that agents ask models of, and the places where agents read their addresses.

/// A service that an agent asks models of, and the way to lead the agent elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct ModelService {
    /// The variables that the agent takes the service's key from.
    pub keys: &'static [&'static str],
    /// The variable that the agent is given the key in, where it is another one with the gateway.
    pub given_as: Option<&'static str>,
    /// The place of the service's address: a variable, or a JSON pointer into the agent's settings.
    pub address: &'static str,
    /// The address that the agent uses if none is set; empty if it then uses another service.
    pub usual: &'static str,
    /// Variables and settings that make the agent use another service or another way to sign in.
    pub unless: &'static [&'static str],
}

impl ModelService {
    /// Returns a service that an agent has in no other form.
    pub(super) const fn new(
        keys: &'static [&'static str],
        address: &'static str,
        usual: &'static str,
    ) -> Self {
        ModelService {
            keys,
            given_as: None,
            address,
            usual,
            unless: &[],
        }
    }
}

/// The addresses of the large services, as their own libraries have them.
pub(super) mod usual {
    pub const ANTHROPIC: &str = "https://api.anthropic.com";
    pub const OPENAI: &str = "https://api.openai.com";
    pub const OPENAI_V1: &str = "https://api.openai.com/v1";
    pub const GEMINI: &str = "https://generativelanguage.googleapis.com";
}

/// The services that programs of any kind are led to by these variables. A program that is given one of two names for an address
/// is not given the other.
pub(super) const COMMON_SERVICES: &[ModelService] = &[
    ModelService {
        unless: &["ANTHROPIC_HOST"],
        ..ModelService::new(ANTHROPIC_KEYS, "ANTHROPIC_BASE_URL", usual::ANTHROPIC)
    },
    ModelService {
        unless: &["ANTHROPIC_BASE_URL"],
        ..ModelService::new(ANTHROPIC_KEYS, "ANTHROPIC_HOST", usual::ANTHROPIC)
    },
    ModelService {
        unless: &["OPENAI_HOST"],
        ..ModelService::new(&["OPENAI_API_KEY"], "OPENAI_BASE_URL", usual::OPENAI_V1)
    },
    ModelService {
        unless: &["OPENAI_BASE_URL"],
        ..ModelService::new(&["OPENAI_API_KEY"], "OPENAI_HOST", usual::OPENAI)
    },
    ModelService::new(
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        "GOOGLE_GEMINI_BASE_URL",
        usual::GEMINI,
    ),
];

const ANTHROPIC_KEYS: &[&str] = &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"];
