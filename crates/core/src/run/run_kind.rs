//! What a run is about.

use serde::Serialize;

/// What a run is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// Agents.
    Agents,
    /// Evals: all its agents are `oracle`, `nop` or `cheat`.
    Controls,
    /// Evals: it is a run of `terca validate`.
    Validate,
}
