//! Further real agents from npm, and further tests of two that take long to start: `scripts/test-more-agents`.

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
    acp_gemini: ACP_GEMINI [
        prompts_arrive_as_written long_rules_arrive_or_are_not_claimed
        mcp_claims_agree_with_the_server a_recorded_session_comes_to_the_same
        a_dead_service_is_no_failure
    ]
    acp_qwen: ACP_QWEN [
        prompts_arrive_as_written figures_and_models_are_those_served
        long_rules_arrive_or_are_not_claimed mcp_claims_agree_with_the_server
        rules_are_proven_on_the_wire remote_mcp_servers_are_recorded
        a_recorded_session_comes_to_the_same
    ]
    opencode: OPENCODE [
        prompts_arrive_as_written figures_and_models_are_those_served
        long_rules_arrive_or_are_not_claimed mcp_claims_agree_with_the_server
        a_recorded_session_comes_to_the_same a_dead_service_is_no_failure
    ]
    qwen: QWEN [
        prompts_arrive_as_written figures_and_models_are_those_served
        long_rules_arrive_or_are_not_claimed mcp_claims_agree_with_the_server
        a_recorded_session_comes_to_the_same a_dead_service_is_no_failure
    ]
}
