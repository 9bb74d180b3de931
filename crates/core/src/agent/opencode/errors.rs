//! What the errors of opencode, and of the services behind it, mean.

use super::wire::Failure;
use crate::trial_error::ErrorKind;

const PATTERNS: [(ErrorKind, &[&str]); 3] = [
    (
        ErrorKind::RateLimit,
        &["rate limit", "quota", "too many requests", "usage limit"],
    ),
    (
        ErrorKind::Auth,
        &[
            "api key",
            "unauthorized",
            "authentication",
            "forbidden",
            "credentials",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "unable to connect",
            "connection",
            "econnre",
            "enotfound",
            "fetch failed",
            "overloaded",
            "socket",
            "timed out",
        ],
    ),
];

pub(super) fn kind_of(failure: &Failure) -> ErrorKind {
    let by_name = match failure.name.as_str() {
        "ProviderAuthError" => Some(ErrorKind::Auth),
        _ => None,
    };
    let by_status = failure.data.status_code.and_then(|status| match status {
        401 | 403 => Some(ErrorKind::Auth),
        429 => Some(ErrorKind::RateLimit),
        500.. => Some(ErrorKind::ModelApi),
        _ => None,
    });
    // What the service refused for another reason, an unknown model say, is trouble with the service too.
    let refused = (failure.name == "APIError").then_some(ErrorKind::ModelApi);
    by_name
        .or(by_status)
        .or_else(|| classify(&failure.data.message))
        .or(refused)
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
