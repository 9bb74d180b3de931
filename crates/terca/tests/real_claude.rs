//! The real Claude Code.

mod common;
mod real;

use real::RealAgent;
use serde_json::Value;
use terca_testkit::{Dialect, Vocabulary};

const CLAUDE: RealAgent = RealAgent {
    name: "claude-code",
    version: "2.1.197",
    model: "claude-opus-4-8",
    asked_for: "claude-opus-4-8",
    dialect: Dialect::Anthropic,
    vocabulary: Vocabulary::ClaudeCode,
    tells_as_it_goes: true,
    gives_up: true,
    env: |url| vec![("ANTHROPIC_API_KEY", "false-key-for-tests".into()), ("ANTHROPIC_BASE_URL", url.into())],
    config: |_| Value::Null,
};

#[test]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(CLAUDE);
}

#[test]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(CLAUDE);
}

#[test]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(CLAUDE);
}

#[test]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(CLAUDE);
}
