//! opencode.

use super::*;

pub const OPENCODE: RealAgent = RealAgent {
    name: "opencode",
    model: "mock/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| {
            Call::new(
                "write",
                json!({"filePath": file.absolute(), "content": file.content}),
            )
        },
        run: |command| {
            Call::new(
                "bash",
                json!({"command": command, "description": "as the script says"}),
            )
        },
        mcp: Some(|server, tool, arguments| Call::new(format!("{server}_{tool}"), arguments)),
        delegate: Some(|prompt| {
            let arguments = json!({"description": "as the script says", "prompt": prompt, "subagent_type": "general"});
            vec![Call::new("task", arguments)]
        }),
    }),
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
