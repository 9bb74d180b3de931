//! What the error messages of Qwen Code, and of the service behind it, mean.

use crate::trial_error::ErrorKind;

/// Looked through in this order. The messages are `[API Error: 401 Incorrect API key provided]` and the like.
const PATTERNS: [(ErrorKind, &[&str]); 3] = [
    (
        ErrorKind::RateLimit,
        &[
            "API Error: 429",
            "quota",
            "rate limit",
            "too many requests",
            "throttl",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "API Error: 401",
            "API Error: 403",
            "API key",
            "OPENAI_API_KEY",
            "auth type",
            "authentication",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "API Error",
            "fetch failed",
            "connection error",
            "ECONNREFUSED",
            "ENOTFOUND",
            "overloaded",
        ],
    ),
];

pub(super) fn classify(message: &str) -> Option<ErrorKind> {
    let message = message.to_lowercase();
    let speaks_of = |words: &[&str]| {
        words
            .iter()
            .any(|word| message.contains(&word.to_lowercase()))
    };
    PATTERNS
        .iter()
        .find(|(_, words)| speaks_of(words))
        .map(|(kind, _)| *kind)
}
