//! The real Droid.

use crate::real;
use crate::real::agents::DROID;

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(DROID);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn skills_are_offered() {
    real::skills_are_offered(DROID);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(DROID);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(DROID);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(DROID);
}
