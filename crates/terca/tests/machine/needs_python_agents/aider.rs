//! The real aider.

use crate::real;

#[test]
#[ignore = "needs Python, and takes long: scripts/test-more-agents"]
fn works_in_a_hostile_place() {
    real::aider::works_in_a_hostile_place();
}

#[test]
#[ignore = "needs Python, and takes long: scripts/test-more-agents"]
fn trouble_is_told_from_failure() {
    real::aider::trouble_is_told_from_failure();
}

#[test]
#[ignore = "needs Python, and takes long: scripts/test-more-agents"]
fn prompts_arrive_as_written() {
    real::aider::prompts_arrive_as_written();
}
