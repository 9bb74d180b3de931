//! What the error messages of Claude Code, and of the service behind it, mean.

use crate::trial_error::ErrorKind;

const PATTERNS: [(ErrorKind, &[&str]); 3] = [
    (
        ErrorKind::RateLimit,
        &[
            "rate_limit",
            "rate limit",
            "limit reached",
            "usage limit",
            "credit balance",
            "quota",
            "(429)",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "not logged in",
            "/login",
            "authentication",
            "invalid api key",
            "invalid x-api-key",
            "oauth token",
            "unauthorized",
            "permission_error",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "api error",
            "unable to connect",
            "connection error",
            "connectionrefused",
            "econnrefused",
            "enotfound",
            "fetch failed",
            "timed out",
            "overloaded",
            "server_error",
        ],
    ),
];

/// The status of the answer says it best.
pub(super) fn classify(status: Option<u16>, message: &str) -> Option<ErrorKind> {
    match status {
        Some(401 | 403) => return Some(ErrorKind::Auth),
        Some(429) => return Some(ErrorKind::RateLimit),
        Some(500..) => return Some(ErrorKind::ModelApi),
        _ => {}
    }
    let message = message.to_lowercase();
    let speaks_of = |words: &[&str]| words.iter().any(|word| message.contains(word));
    PATTERNS
        .iter()
        .find(|(_, words)| speaks_of(words))
        .map(|(kind, _)| *kind)
}
