//! What the error messages of Gemini CLI, and of the service behind it, mean.

use crate::trial_error::ErrorKind;

/// Looked through in this order: the advice that comes with a used-up quota mentions `/auth method` too.
const PATTERNS: [(ErrorKind, &[&str]); 3] = [
    (
        ErrorKind::RateLimit,
        &[
            "RESOURCE_EXHAUSTED",
            "\"code\":429",
            "daily quota",
            "quota increase",
            "Quota exceeded",
            "rate limit",
            "Rate limit",
            "Suggested retry after",
            "Too Many Requests",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "UNAUTHENTICATED",
            "PERMISSION_DENIED",
            "API key not valid",
            "\"code\":401",
            "\"code\":403",
            "auth method",
            "Auth method",
            "GEMINI_API_KEY",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "[API Error",
            "fetch failed",
            "ECONNREFUSED",
            "ENOTFOUND",
            "INTERNAL",
            "UNAVAILABLE",
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
