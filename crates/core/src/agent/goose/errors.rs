//! What goose's own messages about errors mean.

use crate::trial_error::ErrorKind;

/// Looked through in this order: an advice to try again comes with every one of them. Numbers alone say nothing:
/// a port or an id may have the same digits.
const PATTERNS: [(ErrorKind, &[&str]); 3] = [
    (
        ErrorKind::RateLimit,
        &[
            "Rate limit",
            "Status: 429",
            "429 Too Many",
            "quota",
            "Credits exhausted",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "Authentication",
            "Status: 401",
            "Status: 403",
            "Forbidden",
            "Unauthorized",
            "No provider configured",
            "API key",
            "API_KEY",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "Server error",
            "Network error",
            "Request failed",
            "error sending request",
            "Could not connect",
            "overloaded",
        ],
    ),
];

pub(super) fn classify(message: &str) -> Option<ErrorKind> {
    let speaks_of = |words: &[&str]| words.iter().any(|word| message.contains(word));
    PATTERNS
        .iter()
        .find(|(_, words)| speaks_of(words))
        .map(|(kind, _)| *kind)
}

/// How a message begins that goose ends a session with because it cannot go on.
pub(super) fn gives_up(message: &str) -> bool {
    ["Ran into this error", "Network error"]
        .iter()
        .any(|beginning| message.starts_with(beginning))
}
