//! What cn's words about errors mean.

use crate::trial_error::ErrorKind;

/// `401 Incorrect API key provided`: an HTTP status and the service's own words, or words of cn's.
pub(super) fn classify(message: &str) -> ErrorKind {
    let status = message
        .split_whitespace()
        .next()
        .filter(|word| word.len() == 3);
    if let Some(status) = status.and_then(|word| word.parse::<u16>().ok()) {
        return match status {
            401 | 403 => ErrorKind::Auth,
            429 => ErrorKind::RateLimit,
            _ => ErrorKind::ModelApi,
        };
    }
    let speaks_of = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if message.starts_with("MCP server(s) failed to load") {
        ErrorKind::Mcp
    } else if speaks_of(&["API key", "apiKey", "log in", "login"]) {
        ErrorKind::Auth
    } else if speaks_of(&[
        "Connection error",
        "fetch failed",
        "ECONN",
        "ENOTFOUND",
        "ETIMEDOUT",
        "Premature close",
    ]) {
        ErrorKind::ModelApi
    } else {
        ErrorKind::Agent
    }
}
