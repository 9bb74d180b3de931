//! aider, which has no tools.

use super::*;

pub const AIDER: RealAgent = RealAgent {
    name: "aider",
    model: "openai/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Words,
    tells_as_it_goes: false,
    gives_up: false,
    goes_on: false,
    env: |url| {
        vec![
            ("OPENAI_API_KEY", "false-key-for-tests".into()),
            ("OPENAI_API_BASE", format!("{url}/v1")),
        ]
    },
    // Models that it does not know have to write files as a whole.
    config: |_| json!({"edit-format": "diff"}),
};
