//! Gemini CLI.

use super::*;

pub const GEMINI: RealAgent = RealAgent {
    name: "gemini-cli",
    model: "gemini-2.5-pro",
    asked_for: "gemini-2.5-pro",
    dialect: Dialect::Gemini,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| {
            Call::new(
                "write_file",
                json!({"file_path": file.path, "content": file.content}),
            )
        },
        run: |command| {
            Call::new(
                "run_shell_command",
                json!({"command": command, "description": "as the script says"}),
            )
        },
        mcp: Some(|server, tool, arguments| Call::new(format!("mcp_{server}_{tool}"), arguments)),
        delegate: Some(|prompt| {
            let arguments = json!({"agent_name": "generalist", "prompt": prompt});
            vec![Call::new("invoke_agent", arguments)]
        }),
    }),
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
