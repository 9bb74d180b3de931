//! The real GitHub Copilot CLI.

use crate::real;
use crate::real::agents::COPILOT;

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(COPILOT);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(COPILOT);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(COPILOT);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(COPILOT);
}
