//! Endings that many agents have.

use super::Ending;
use crate::process::Exit;
use crate::trial_error::{ErrorKind, TrialError};

/// The stream breaks off where a session would have come to its end. The agent's last words say why, and of what kind
/// that is; without any, how its process ended has to do.
pub(super) fn no_end(last_words: &str, kind: Option<ErrorKind>, exit: Exit) -> Ending {
    let words = if last_words.is_empty() {
        exit.describe()
    } else {
        last_words.to_owned()
    };
    let message = format!("the session has no end: {words}");
    Ending::Failed(TrialError::new(kind.unwrap_or(ErrorKind::Agent), message))
}

/// Without an MCP server of its variant the agent was not tested.
pub(super) fn not_connected(server: &str, why: &str) -> Ending {
    let message = format!("the MCP server `{server}` did not connect: {why}");
    Ending::Failed(TrialError::new(ErrorKind::Mcp, message))
}
