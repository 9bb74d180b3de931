//! Answers for the terminal: tables, lists and sentences.

pub(crate) mod ablation;
pub(crate) mod agent_inputs;
pub(crate) mod agents;
pub(crate) mod compared;
pub(crate) mod comparison_table;
pub(crate) mod failures;
pub(crate) mod footer;
pub(crate) mod forecast;
pub(crate) mod mined;
pub(crate) mod plan;
pub(crate) mod regraded;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod suggestions;
pub(crate) mod table;
pub(crate) mod tests_table;
pub(crate) mod trial;
pub(crate) mod validation_table;
pub(crate) mod verdicts;
pub(crate) mod wire;
