//! Cline.

use super::*;

pub const CLINE: RealAgent = RealAgent {
    name: "cline",
    model: "openai-compatible/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| {
            Call::new(
                "editor",
                json!({"path": file.absolute(), "new_text": file.content}),
            )
        },
        run: |command| Call::new("run_commands", json!({"commands": [command]})),
        mcp: Some(|server, tool, arguments| Call::new(format!("{server}__{tool}"), arguments)),
        delegate: Some(|prompt| {
            let arguments = json!({"systemPrompt": "You do as you are told.", "task": prompt});
            vec![Call::new("spawn_agent", arguments)]
        }),
    }),
    tells_as_it_goes: true,
    gives_up: false,
    goes_on: false,
    env: |_| vec![("OPENAI_API_KEY", "false-key-for-tests".into())],
    config: |url| json!({"providers": {"openai-compatible": {"baseUrl": format!("{url}/v1")}}}),
};
