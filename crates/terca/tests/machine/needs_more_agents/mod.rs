//! Further real agents from npm: `scripts/test-more-agents`.

mod continue_cli;

crate::real::tests_of! {
    "needs Node and npm, and takes long: scripts/test-more-agents";
    cline: CLINE [
        works_in_a_hostile_place mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure prompts_arrive_as_written
    ]
    copilot: COPILOT [
        works_in_a_hostile_place mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure prompts_arrive_as_written
    ]
    droid: DROID [
        works_in_a_hostile_place skills_are_offered mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure prompts_arrive_as_written
    ]
    kilo: KILO [
        works_in_a_hostile_place skills_are_offered mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure prompts_arrive_as_written
    ]
    pi: PI [
        works_in_a_hostile_place skills_are_offered
        trouble_is_told_from_failure prompts_arrive_as_written
    ]
}
