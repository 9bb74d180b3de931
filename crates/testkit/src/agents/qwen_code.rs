//! Qwen Code.

use super::*;

pub const QWEN: RealAgent = RealAgent {
    name: "qwen-code",
    model: "mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| {
            Call::new(
                "write_file",
                json!({"file_path": file.absolute(), "content": file.content}),
            )
        },
        run: |command| {
            Call::new(
                "run_shell_command",
                json!({"command": command, "description": "as the script says", "is_background": false}),
            )
        },
        mcp: Some(|server, tool, arguments| Call::new(format!("mcp__{server}__{tool}"), arguments)),
        delegate: Some(|prompt| {
            let arguments = json!({
                "description": "as the script says", "prompt": prompt, "subagent_type": "general-purpose",
                "run_in_background": false,
            });
            vec![Call::new("agent", arguments)]
        }),
    }),
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
