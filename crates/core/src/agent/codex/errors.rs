//! What the error messages of Codex, and of the service behind it, mean.

use crate::trial_error::ErrorKind;

/// Looked through in this order: every refusal is an unexpected status too.
const PATTERNS: [(ErrorKind, &[&str]); 4] = [
    // The agent itself ran out of room; no service is to blame.
    (
        ErrorKind::Agent,
        &[
            "context window",
            "context_length_exceeded",
            "input_too_large",
        ],
    ),
    (
        ErrorKind::RateLimit,
        &[
            "status: 429",
            "status 429",
            "too many requests",
            "rate limit",
            "quota",
            "usage limit",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "status 401",
            "status: 401",
            "status 403",
            "status: 403",
            "unauthorized",
            "api key",
            "missing environment variable",
            "not logged in",
            "log in again",
            "sign in again",
            "refresh token",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "unexpected status",
            "last status",
            "high demand",
            "overloaded",
            "at capacity",
            "stream disconnected",
            "waiting for network",
            "connection failed",
            "error sending request",
            "timed out",
            "timeout waiting",
        ],
    ),
];

pub(super) fn classify(message: &str) -> Option<ErrorKind> {
    let message = message.to_lowercase();
    let speaks_of = |words: &[&str]| words.iter().any(|word| message.contains(word));
    PATTERNS
        .iter()
        .find(|(_, words)| speaks_of(words))
        .map(|(kind, _)| *kind)
}
