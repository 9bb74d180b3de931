//! mini-SWE-agent.

use super::*;

pub const MINI: RealAgent = RealAgent {
    name: "mini-swe-agent",
    model: "openai/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Tools(Tools {
        // A shell is all it has.
        write: |file| {
            run(&format!(
                "cat > {} <<'END'
{}END",
                file.path, file.content
            ))
        },
        run,
        mcp: None,
        delegate: None,
    }),
    tells_as_it_goes: true,
    gives_up: true,
    goes_on: false,
    env: |url| {
        vec![
            ("OPENAI_API_KEY", "false-key-for-tests".into()),
            ("OPENAI_API_BASE", format!("{url}/v1")),
        ]
    },
    config: |_| Value::Null,
};

fn run(command: &str) -> Call {
    Call::new("bash", json!({"command": command}))
}
