//! The real Pi.

use crate::real;
use crate::real::agents::PI;

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn works_in_a_hostile_place() {
    real::works_in_a_hostile_place(PI);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn skills_are_offered() {
    real::skills_are_offered(PI);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn trouble_is_told_from_failure() {
    real::trouble_is_told_from_failure(PI);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test-more-agents"]
fn prompts_arrive_as_written() {
    real::prompts_arrive_as_written(PI);
}
