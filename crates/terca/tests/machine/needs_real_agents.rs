//! Real agents that every run of `scripts/test` starts. `needs_more_agents` has the other agents, and the other tests.

crate::real::tests_of! {
    "needs Node and npm";
    claude: CLAUDE [works_in_a_hostile_place trouble_is_told_from_failure]
    codex: CODEX [works_in_a_hostile_place trouble_is_told_from_failure]
    gemini: GEMINI [works_in_a_hostile_place trouble_is_told_from_failure]
}
