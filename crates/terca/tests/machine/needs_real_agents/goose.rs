//! The real Goose.

use crate::real;
use crate::real::agents::GOOSE;

#[test]
#[ignore = "needs Node and npm"]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(GOOSE);
}

#[test]
#[ignore = "needs Node and npm"]
fn mcp_servers_are_offered_called_and_missed() {
    real::mcp_servers_are_offered_called_and_missed(GOOSE);
}

#[test]
#[ignore = "needs Node and npm"]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(GOOSE);
}

#[test]
#[ignore = "needs Node and npm"]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(GOOSE);
}
