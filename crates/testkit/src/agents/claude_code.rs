//! Claude Code.

use super::*;

pub const CLAUDE: RealAgent = RealAgent {
    name: "claude-code",
    model: "claude-opus-4-8",
    asked_for: "claude-opus-4-8",
    dialect: Dialect::Anthropic,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| {
            Call::new(
                "Write",
                json!({"file_path": file.absolute(), "content": file.content}),
            )
        },
        run: |command| {
            Call::new(
                "Bash",
                json!({"command": command, "description": "as the script says"}),
            )
        },
        mcp: Some(|server, tool, arguments| Call::new(format!("mcp__{server}__{tool}"), arguments)),
        delegate: Some(|prompt| {
            let arguments = json!({
                "description": "as the script says", "prompt": prompt, "subagent_type": "general-purpose",
                "run_in_background": false,
            });
            vec![Call::new("Agent", arguments)]
        }),
    }),
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
