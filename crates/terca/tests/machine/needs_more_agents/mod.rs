//! Further real agents from npm: `scripts/test-more-agents`.

mod continue_cli;

crate::real::tests_of! {
    "needs Node and npm, and takes long: scripts/test-more-agents";
    cline: CLINE [
        works_in_a_hostile_place mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure prompts_arrive_as_written
        a_dead_service_is_no_failure figures_and_models_are_those_served
        mcp_claims_agree_with_the_server long_rules_arrive_or_are_not_claimed
    ]
    copilot: COPILOT [
        works_in_a_hostile_place mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure prompts_arrive_as_written
        a_dead_service_is_no_failure figures_and_models_are_those_served
        mcp_claims_agree_with_the_server long_rules_arrive_or_are_not_claimed
    ]
    droid: DROID [
        works_in_a_hostile_place skills_are_offered mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure prompts_arrive_as_written
        a_dead_service_is_no_failure figures_and_models_are_those_served
        mcp_claims_agree_with_the_server long_rules_arrive_or_are_not_claimed
    ]
    kilo: KILO [
        works_in_a_hostile_place skills_are_offered mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure prompts_arrive_as_written
        a_dead_service_is_no_failure figures_and_models_are_those_served
        mcp_claims_agree_with_the_server long_rules_arrive_or_are_not_claimed
    ]
    pi: PI [
        works_in_a_hostile_place skills_are_offered
        trouble_is_told_from_failure prompts_arrive_as_written
        a_dead_service_is_no_failure figures_and_models_are_those_served
        long_rules_arrive_or_are_not_claimed
    ]
    opencode: OPENCODE [a_dead_service_is_no_failure]
    qwen: QWEN [a_dead_service_is_no_failure]
}
