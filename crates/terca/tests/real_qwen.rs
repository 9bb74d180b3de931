//! The real Qwen Code.

mod common;
mod real;

use real::agents::QWEN;

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
