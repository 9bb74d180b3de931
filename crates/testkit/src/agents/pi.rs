//! Pi.

use super::*;

pub const PI: RealAgent = RealAgent {
    name: "pi",
    model: "mock/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| Call::new("write", json!({"path": file.path, "content": file.content})),
        run: |command| Call::new("bash", json!({"command": command})),
        mcp: None,
        delegate: None,
    }),
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
