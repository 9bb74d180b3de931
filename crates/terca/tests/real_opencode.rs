//! The real OpenCode.

mod common;
mod real;

use real::RealAgent;
use serde_json::json;
use terca_testkit::{Dialect, Vocabulary};

const OPENCODE: RealAgent = RealAgent {
    name: "opencode",
    version: "1.18.33",
    model: "mock/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Opencode,
    tells_as_it_goes: false,
    gives_up: true,
    env: |_| vec![("OPENAI_API_KEY", "false-key-for-tests".into())],
    config: |url| {
        json!({"provider": {"mock": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Mock",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "false-key-for-tests"},
            "models": {"mock-model": {"name": "Mock", "limit": {"context": 400_000, "output": 8_000}}},
        }}})
    },
};

#[test]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(OPENCODE);
}

#[test]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(OPENCODE);
}

#[test]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(OPENCODE);
}

#[test]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(OPENCODE);
}
