//! Droid.

use super::*;

pub const DROID: RealAgent = RealAgent {
    name: "droid",
    model: "custom:Mock-0",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| {
            Call::new(
                "Create",
                json!({"file_path": file.path, "content": file.content}),
            )
        },
        run: |command| {
            Call::new(
                "Execute",
                json!({"command": command, "summary": "as the script says"}),
            )
        },
        mcp: Some(|server, tool, arguments| Call::new(format!("{server}___{tool}"), arguments)),
        // It has some, and starts them only when it is signed in.
        delegate: None,
    }),
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
