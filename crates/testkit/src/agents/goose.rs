//! Goose.

use super::*;

pub const GOOSE: RealAgent = RealAgent {
    name: "goose",
    model: "openai/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| Call::new("write", json!({"path": file.path, "content": file.content})),
        run: |command| Call::new("shell", json!({"command": command})),
        mcp: Some(|server, tool, arguments| Call::new(format!("{server}__{tool}"), arguments)),
        delegate: Some(|prompt| vec![Call::new("delegate", json!({"instructions": prompt}))]),
    }),
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
