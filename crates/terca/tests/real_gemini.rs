//! The real Gemini CLI.

mod common;
mod real;

use real::RealAgent;
use serde_json::Value;
use terca_testkit::{Dialect, Vocabulary};

const GEMINI: RealAgent = RealAgent {
    name: "gemini-cli",
    version: "0.61.0",
    model: "gemini-2.5-pro",
    asked_for: "gemini-2.5-pro",
    dialect: Dialect::Gemini,
    vocabulary: Vocabulary::GeminiCli,
    tells_as_it_goes: true,
    gives_up: true,
    env: |url| vec![("GEMINI_API_KEY", "false-key-for-tests".into()), ("GOOGLE_GEMINI_BASE_URL", url.into())],
    config: |_| Value::Null,
};

#[test]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(GEMINI);
}

#[test]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(GEMINI);
}

#[test]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(GEMINI);
}

#[test]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(GEMINI);
}
