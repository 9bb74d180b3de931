//! The real Goose.

mod common;
mod real;

use real::RealAgent;
use serde_json::Value;
use terca_testkit::{Dialect, Vocabulary};

const GOOSE: RealAgent = RealAgent {
    name: "goose",
    version: "1.52.0",
    model: "openai/mock-model",
    asked_for: "mock-model",
    dialect: Dialect::Chat,
    vocabulary: Vocabulary::Goose,
    tells_as_it_goes: false,
    gives_up: true,
    env: |url| vec![("OPENAI_API_KEY", "false-key-for-tests".into()), ("OPENAI_HOST", url.into())],
    config: |_| Value::Null,
};

#[test]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(GOOSE);
}

#[test]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(GOOSE);
}

#[test]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(GOOSE);
}

#[test]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(GOOSE);
}
