//! The real Codex.

mod common;
mod real;

use real::RealAgent;
use serde_json::json;
use terca_testkit::{Dialect, Vocabulary};

const CODEX: RealAgent = RealAgent {
    name: "codex",
    version: "0.166.0",
    model: "gpt-6.1-sol",
    asked_for: "gpt-6.1-sol",
    dialect: Dialect::Responses,
    vocabulary: Vocabulary::Codex,
    tells_as_it_goes: true,
    gives_up: true,
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

#[test]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(CODEX);
}

#[test]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(CODEX);
}

#[test]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(CODEX);
}

#[test]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(CODEX);
}
