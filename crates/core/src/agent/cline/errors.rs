//! What the errors of Cline, and of the services behind it, mean.

use crate::trial_error::ErrorKind;

const PATTERNS: [(ErrorKind, &[&str]); 3] = [
    (
        ErrorKind::RateLimit,
        &[
            "rate limit",
            "too many requests",
            "quota",
            "insufficient credit",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "api key",
            "api_key",
            "unauthorized",
            "authentication",
            "forbidden",
            "credentials",
            "sign in",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "unable to connect",
            "cannot connect",
            "connection",
            "econnre",
            "fetch failed",
            "overloaded",
            "timed out",
        ],
    ),
];

/// What the service itself said counts most, then how Cline sees it, then the words.
pub(super) fn kind_of(status: Option<u16>, class: &str, message: &str) -> Option<ErrorKind> {
    let by_status = status.and_then(|status| match status {
        401 | 403 => Some(ErrorKind::Auth),
        429 => Some(ErrorKind::RateLimit),
        400.. => Some(ErrorKind::ModelApi),
        _ => None,
    });
    let by_class = (class == "auth").then_some(ErrorKind::Auth);
    by_status.or(by_class).or_else(|| classify(message))
}

pub(super) fn classify(message: &str) -> Option<ErrorKind> {
    let message = message.to_lowercase();
    let speaks_of = |words: &[&str]| words.iter().any(|word| message.contains(word));
    PATTERNS
        .iter()
        .find(|(_, words)| speaks_of(words))
        .map(|(kind, _)| *kind)
}
