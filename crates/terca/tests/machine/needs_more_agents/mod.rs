//! All other tests of real agents from npm, which take long: `scripts/test --everything`.

mod continue_cli;
mod example;
mod judge;
mod parallel;

crate::real::tests_of! {
    "needs Node and npm, and takes long: scripts/test --everything";
    acp_claude: ACP_CLAUDE [
        works_in_a_hostile_place skills_are_offered mcp_servers_are_offered_called_and_missed
        prompts_arrive_as_written rules_are_proven_on_the_wire metered_by_the_gateway
    ]
    acp_codex: ACP_CODEX [
        works_in_a_hostile_place skills_are_offered mcp_servers_are_offered_called_and_missed
        prompts_arrive_as_written rules_are_proven_on_the_wire metered_by_the_gateway
    ]
    acp_copilot: ACP_COPILOT [
        works_in_a_hostile_place skills_are_offered mcp_servers_are_offered_called_and_missed
        prompts_arrive_as_written rules_are_proven_on_the_wire metered_by_the_gateway
    ]
    acp_goose: ACP_GOOSE [skills_are_offered rules_are_proven_on_the_wire metered_by_the_gateway]
    acp_kilo: ACP_KILO [skills_are_offered rules_are_proven_on_the_wire metered_by_the_gateway]
    acp_opencode: ACP_OPENCODE [skills_are_offered rules_are_proven_on_the_wire metered_by_the_gateway]
    acp_gemini: ACP_GEMINI [
        works_in_a_hostile_place mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure figures_and_models_are_those_served
        rules_are_proven_on_the_wire remote_mcp_servers_are_recorded
        prompts_arrive_as_written long_rules_arrive_or_are_not_claimed
        mcp_claims_agree_with_the_server a_recorded_session_comes_to_the_same
        a_dead_service_is_no_failure
    ]
    acp_qwen: ACP_QWEN [
        works_in_a_hostile_place mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure prompts_arrive_as_written
        figures_and_models_are_those_served long_rules_arrive_or_are_not_claimed
        mcp_claims_agree_with_the_server rules_are_proven_on_the_wire
        remote_mcp_servers_are_recorded a_recorded_session_comes_to_the_same
    ]
    claude: CLAUDE [
        skills_are_proven_on_the_wire
        mcp_servers_are_offered_called_and_missed hidden_tools_are_not_offered
        prompts_arrive_as_written figures_and_models_are_those_served
        long_rules_arrive_or_are_not_claimed mcp_claims_agree_with_the_server
        metered_by_the_gateway rules_are_proven_on_the_wire remote_mcp_servers_are_recorded
        a_recorded_session_comes_to_the_same
        works_on_a_worker_as_it_does_here
    ]
    codex: CODEX [
        mcp_servers_are_offered_called_and_missed prompts_arrive_as_written
        figures_and_models_are_those_served long_rules_arrive_or_are_not_claimed
        mcp_claims_agree_with_the_server rules_are_proven_on_the_wire
        remote_mcp_servers_are_recorded a_recorded_session_comes_to_the_same
    ]
    gemini: GEMINI [
        mcp_servers_are_offered_called_and_missed hidden_tools_are_not_offered
        prompts_arrive_as_written figures_and_models_are_those_served
        long_rules_arrive_or_are_not_claimed mcp_claims_agree_with_the_server
        rules_are_proven_on_the_wire remote_mcp_servers_are_recorded
        a_recorded_session_comes_to_the_same a_dead_service_is_no_failure
        works_on_a_worker_as_it_does_here
    ]
    goose: GOOSE [
        works_in_a_hostile_place mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure prompts_arrive_as_written
        figures_and_models_are_those_served long_rules_arrive_or_are_not_claimed
        mcp_claims_agree_with_the_server rules_are_proven_on_the_wire
        remote_mcp_servers_are_recorded a_recorded_session_comes_to_the_same
        a_dead_service_is_no_failure
    ]
    opencode: OPENCODE [
        works_in_a_hostile_place mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure rules_are_proven_on_the_wire
        remote_mcp_servers_are_recorded prompts_arrive_as_written
        figures_and_models_are_those_served long_rules_arrive_or_are_not_claimed
        mcp_claims_agree_with_the_server a_recorded_session_comes_to_the_same
        a_dead_service_is_no_failure the_wire_decides
    ]
    qwen: QWEN [
        skills_are_proven_on_the_wire
        works_in_a_hostile_place mcp_servers_are_offered_called_and_missed
        trouble_is_told_from_failure rules_are_proven_on_the_wire
        remote_mcp_servers_are_recorded prompts_arrive_as_written
        figures_and_models_are_those_served long_rules_arrive_or_are_not_claimed
        mcp_claims_agree_with_the_server a_recorded_session_comes_to_the_same
        a_dead_service_is_no_failure the_wire_decides
    ]
    cline: CLINE [
        skills_are_proven_on_the_wire
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
        skills_are_proven_on_the_wire
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
}
