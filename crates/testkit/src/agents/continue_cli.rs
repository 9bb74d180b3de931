//! Continue's `cn`.

use super::*;

pub const CONTINUE: RealAgent = RealAgent {
    name: "continue",
    model: "openai/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| {
            Call::new(
                "Write",
                json!({"filepath": file.path, "content": file.content}),
            )
        },
        run: |command| Call::new("Bash", json!({"command": command})),
        // Without a word about whose it is.
        mcp: Some(|_server, tool, arguments| Call::new(tool, arguments)),
        delegate: None,
    }),
    tells_as_it_goes: true,
    gives_up: false,
    goes_on: false,
    env: |_| vec![("OPENAI_API_KEY", "false-key-for-tests".into())],
    config: |url| json!({"models": [{"name": "Mock", "provider": "openai", "model": "mock-model", "apiBase": format!("{url}/v1")}]}),
};
