//! GitHub Copilot CLI.

use super::*;

pub const COPILOT: RealAgent = RealAgent {
    name: "copilot",
    model: "mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| {
            Call::new(
                "create",
                json!({"path": file.absolute(), "file_text": file.content}),
            )
        },
        run: |command| {
            // By default it reports back after thirty seconds, while the command goes on.
            Call::new(
                "bash",
                json!({"command": command, "description": "as the script says", "initial_wait": 600}),
            )
        },
        mcp: Some(|server, tool, arguments| Call::new(format!("{server}-{tool}"), arguments)),
        delegate: Some(|prompt| {
            let arguments = json!({
                "name": "child", "description": "as the script says", "prompt": prompt,
                "agent_type": "general-purpose", "mode": "sync",
            });
            vec![Call::new("task", arguments)]
        }),
    }),
    tells_as_it_goes: true,
    gives_up: true,
    goes_on: false,
    env: |url| {
        let unpacked = install::cache_dir().map(|dir| dir.join("copilot-unpacked").to_string());
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
