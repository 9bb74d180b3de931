//! What the errors of Copilot, and of the services behind it, mean.

use super::wire::SessionError;
use crate::trial_error::ErrorKind;

const PATTERNS: [(ErrorKind, &[&str]); 3] = [
    (
        ErrorKind::RateLimit,
        &[
            "rate limit",
            "too many requests",
            "quota",
            "premium requests",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "authentication",
            "unauthorized",
            "forbidden",
            "api key",
            "not logged in",
            "access denied by policy",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "failed to get response",
            "connection",
            "connect",
            "network",
            "fetch failed",
            "timed out",
            "overloaded",
        ],
    ),
];

pub(super) fn kind_of(error: &SessionError) -> ErrorKind {
    let by_status = error.status_code.and_then(|status| match status {
        401 | 403 => Some(ErrorKind::Auth),
        429 => Some(ErrorKind::RateLimit),
        // What the service refused for another reason, an unknown model say, is trouble with the service too.
        400.. => Some(ErrorKind::ModelApi),
        _ => None,
    });
    let by_name = match error.error_type.as_str() {
        "authentication" | "authorization" => Some(ErrorKind::Auth),
        "rate_limit" | "quota" => Some(ErrorKind::RateLimit),
        "query" => Some(ErrorKind::ModelApi),
        _ => None,
    };
    by_status
        .or(by_name)
        .or_else(|| classify(&error.message))
        .unwrap_or(ErrorKind::Agent)
}

pub(super) fn classify(message: &str) -> Option<ErrorKind> {
    let message = message.to_lowercase();
    let speaks_of = |words: &[&str]| words.iter().any(|word| message.contains(word));
    PATTERNS
        .iter()
        .find(|(_, words)| speaks_of(words))
        .map(|(kind, _)| *kind)
}
