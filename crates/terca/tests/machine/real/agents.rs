//! What is particular to each agent.

use serde_json::{Value, json};
use terca_testkit::{Dialect, Vocabulary, real};

use super::RealAgent;

pub const GEMINI: RealAgent = RealAgent {
    name: "gemini-cli",
    version: "0.61.0",
    model: "gemini-2.5-pro",
    asked_for: "gemini-2.5-pro",
    dialect: Dialect::Gemini,
    vocabulary: Vocabulary::GeminiCli,
    tells_as_it_goes: true,
    gives_up: true,
    goes_on: false,
    env: |url| {
        vec![
            ("GEMINI_API_KEY", "false-key-for-tests".into()),
            ("GOOGLE_GEMINI_BASE_URL", url.into()),
        ]
    },
    config: |_| Value::Null,
};

pub const CLAUDE: RealAgent = RealAgent {
    name: "claude-code",
    version: "2.1.197",
    model: "claude-opus-4-8",
    asked_for: "claude-opus-4-8",
    dialect: Dialect::Anthropic,
    vocabulary: Vocabulary::ClaudeCode,
    tells_as_it_goes: true,
    gives_up: true,
    goes_on: false,
    env: |url| {
        vec![
            ("ANTHROPIC_API_KEY", "false-key-for-tests".into()),
            ("ANTHROPIC_BASE_URL", url.into()),
        ]
    },
    config: |_| Value::Null,
};

pub const CODEX: RealAgent = RealAgent {
    name: "codex",
    version: "0.166.0",
    model: "gpt-6.1-sol",
    asked_for: "gpt-6.1-sol",
    dialect: Dialect::Responses,
    vocabulary: Vocabulary::Codex,
    tells_as_it_goes: true,
    gives_up: true,
    goes_on: false,
    env: |_| vec![("OPENAI_API_KEY", "false-key-for-tests".into())],
    config: |url| {
        json!({
            "model_provider": "mock",
            "model_providers": {"mock": {
                "name": "mock",
                "base_url": format!("{url}/v1"),
                "wire_api": "responses",
                "env_key": "OPENAI_API_KEY",
            }},
        })
    },
};

pub const OPENCODE: RealAgent = RealAgent {
    name: "opencode",
    version: "1.18.33",
    model: "mock/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Opencode,
    tells_as_it_goes: false,
    gives_up: true,
    goes_on: false,
    env: |_| vec![("OPENAI_API_KEY", "false-key-for-tests".into())],
    config: |url| {
        json!({"provider": {"mock": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Mock",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "false-key-for-tests"},
            "models": {"mock-model": {"name": "Mock", "limit": {"context": 400_000, "output": 8_000}}},
        }}})
    },
};

pub const QWEN: RealAgent = RealAgent {
    name: "qwen-code",
    version: "0.24.4",
    model: "mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::QwenCode,
    tells_as_it_goes: true,
    gives_up: false,
    goes_on: false,
    env: |url| {
        vec![
            ("OPENAI_API_KEY", "false-key-for-tests".into()),
            ("OPENAI_BASE_URL", format!("{url}/v1")),
        ]
    },
    config: |_| Value::Null,
};

pub const GOOSE: RealAgent = RealAgent {
    name: "goose",
    version: "1.52.0",
    model: "openai/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Goose,
    tells_as_it_goes: false,
    gives_up: true,
    goes_on: false,
    env: |url| {
        vec![
            ("OPENAI_API_KEY", "false-key-for-tests".into()),
            ("OPENAI_HOST", url.into()),
        ]
    },
    config: |_| Value::Null,
};

pub const COPILOT: RealAgent = RealAgent {
    name: "copilot",
    version: "1.0.102",
    model: "mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Copilot,
    tells_as_it_goes: true,
    gives_up: true,
    goes_on: false,
    env: |url| {
        let unpacked = real::cache_dir().map(|dir| dir.join("copilot-unpacked").to_string());
        vec![
            ("COPILOT_OFFLINE", "true".into()),
            ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
            ("COPILOT_PROVIDER_API_KEY", "false-key-for-tests".into()),
            ("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "400000".into()),
            ("COPILOT_PKG_CACHE_HOME", unpacked.unwrap_or_default()),
        ]
    },
    config: |_| Value::Null,
};

pub const CLINE: RealAgent = RealAgent {
    name: "cline",
    version: "3.0.65",
    model: "openai-compatible/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Cline,
    tells_as_it_goes: true,
    gives_up: false,
    goes_on: false,
    env: |_| vec![("OPENAI_API_KEY", "false-key-for-tests".into())],
    config: |url| json!({"providers": {"openai-compatible": {"baseUrl": format!("{url}/v1")}}}),
};

pub const PI: RealAgent = RealAgent {
    name: "pi",
    version: "0.73.1",
    model: "mock/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Pi,
    tells_as_it_goes: true,
    gives_up: true,
    goes_on: false,
    env: |_| Vec::new(),
    config: |url| {
        json!({"providers": {"mock": {
            "baseUrl": format!("{url}/v1"),
            "api": "openai-completions",
            "apiKey": "false-key-for-tests",
            "models": [{"id": "mock-model", "contextWindow": 400_000, "maxTokens": 8_000}],
        }}})
    },
};

/// Made from opencode, with its settings.
pub const KILO: RealAgent = RealAgent {
    name: "kilo",
    version: "7.7.7",
    model: "mock/mock-model",
    vocabulary: Vocabulary::Kilo,
    ..OPENCODE
};

pub const DROID: RealAgent = RealAgent {
    name: "droid",
    version: "0.225.2",
    model: "custom:Mock-0",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Droid,
    tells_as_it_goes: false,
    gives_up: false,
    goes_on: true,
    env: |_| Vec::new(),
    config: |url| {
        json!({"customModels": [{
            "model": "mock-model",
            "displayName": "Mock",
            "baseUrl": format!("{url}/v1"),
            "apiKey": "false-key-for-tests",
            "provider": "generic-chat-completion-api",
            "maxOutputTokens": 8_000,
        }]})
    },
};

pub const AIDER: RealAgent = RealAgent {
    name: "aider",
    version: "0.86.2",
    model: "openai/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Aider,
    tells_as_it_goes: false,
    gives_up: false,
    goes_on: false,
    env: |url| {
        vec![
            ("OPENAI_API_KEY", "false-key-for-tests".into()),
            ("OPENAI_API_BASE", format!("{url}/v1")),
        ]
    },
    // Models that it does not know have to write files as a whole.
    config: |_| json!({"edit-format": "diff"}),
};

pub const MINI: RealAgent = RealAgent {
    name: "mini-swe-agent",
    version: "2.4.6",
    model: "openai/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::MiniSweAgent,
    tells_as_it_goes: true,
    gives_up: true,
    goes_on: false,
    env: |url| {
        vec![
            ("OPENAI_API_KEY", "false-key-for-tests".into()),
            ("OPENAI_API_BASE", format!("{url}/v1")),
        ]
    },
    config: |_| Value::Null,
};

pub const CONTINUE: RealAgent = RealAgent {
    name: "continue",
    version: "1.5.47",
    model: "openai/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Continue,
    tells_as_it_goes: true,
    gives_up: false,
    goes_on: false,
    env: |_| vec![("OPENAI_API_KEY", "false-key-for-tests".into())],
    config: |url| json!({"models": [{"name": "Mock", "provider": "openai", "model": "mock-model", "apiBase": format!("{url}/v1")}]}),
};
