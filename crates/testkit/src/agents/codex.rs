//! Codex.

use super::*;

pub const CODEX: RealAgent = RealAgent {
    name: "codex",
    model: "gpt-6.1-sol",
    asked_for: "gpt-6.1-sol",
    dialect: Dialect::Responses,
    vocabulary: Vocabulary::Tools(Tools {
        write: |file| Call::new("apply_patch", Value::String(patch(file))),
        run: |command| {
            // By default it reports back after ten seconds, while the command goes on.
            Call::new(
                "exec_command",
                json!({"cmd": command, "yield_time_ms": 30_000}),
            )
        },
        mcp: Some(|server, tool, arguments| Call {
            name: tool.into(),
            namespace: Some(format!("mcp__{server}")),
            arguments,
        }),
        // A sub-agent works beside the others until it is waited for.
        delegate: Some(|prompt| {
            let task = json!({"task_name": "child", "message": prompt, "fork_turns": "none"});
            [("spawn_agent", task), ("wait_agent", json!({}))]
                .map(|(name, arguments)| Call {
                    name: name.into(),
                    namespace: Some("collaboration".into()),
                    arguments,
                })
                .to_vec()
        }),
    }),
    tells_as_it_goes: true,
    gives_up: true,
    goes_on: false,
    env: |_| vec![("OPENAI_API_KEY", "false-key-for-tests".into())],
    config: |url| {
        json!({
            "model_provider": "mock",
            "model_providers": {"mock": {
                "name": "mock",
                "base_url": format!("{url}/v1"),
                "wire_api": "responses",
                "env_key": "OPENAI_API_KEY",
            }},
        })
    },
};

fn patch(file: &NewFile<'_>) -> String {
    let lines: String = file
        .content
        .lines()
        .map(|line| format!("+{line}\n"))
        .collect();
    format!(
        "*** Begin Patch\n*** Add File: {}\n{lines}*** End Patch\n",
        file.path
    )
}
