//! The real Qwen Code.

mod common;
mod real;

use real::RealAgent;
use serde_json::Value;
use terca_testkit::{Dialect, Vocabulary};

const QWEN: RealAgent = RealAgent {
    name: "qwen-code",
    version: "0.24.4",
    model: "mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::QwenCode,
    tells_as_it_goes: true,
    gives_up: false,
    env: |url| {
        vec![("OPENAI_API_KEY", "false-key-for-tests".into()), ("OPENAI_BASE_URL", format!("{url}/v1"))]
    },
    config: |_| Value::Null,
};

#[test]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(QWEN);
}

#[test]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(QWEN);
}

#[test]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(QWEN);
}

#[test]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(QWEN);
}
