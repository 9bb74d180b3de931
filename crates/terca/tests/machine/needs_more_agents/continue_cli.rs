//! The real cn of Continue.

use crate::real;
use crate::real::agents::CONTINUE;

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(CONTINUE);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(CONTINUE);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn skills_are_offered() {
    real::continue_cli::skills_are_offered();
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn trouble_is_told_from_failure() {
    real::continue_cli::trouble_is_told_from_failure();
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(CONTINUE);
}
