//! The real Gemini CLI.

use crate::real;
use crate::real::agents::GEMINI;

#[test]
#[ignore = "needs Node and npm"]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(GEMINI);
}

#[test]
#[ignore = "needs Node and npm"]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(GEMINI);
}

#[test]
#[ignore = "needs Node and npm"]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(GEMINI);
}

#[test]
#[ignore = "needs Node and npm"]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(GEMINI);
}
